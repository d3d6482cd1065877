import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { exportSessions } from '@/api/exports'
import type { RunInFull } from '@/api/runs'
import { saveFile } from '@/lib/save'
import { Button, buttonClass } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Popover } from '@/ui/Popover'
import { Command } from '@/ui/states'
import { toasts } from '@/ui/toasts'
import { messageAddress } from '@/vocabulary/MessageLink'
import { ACT_WORDS, type Act, useAskAct } from '@/vocabulary/operatorActs'
import { fittingAction, whyNotEnded } from './words'

/** What can be done with a run; the one that fits its state comes last and is the most visible. */
export function RunActions({ run, onCopy }: { run: RunInFull; onCopy: () => void }) {
  const fitting = fittingAction(run)
  return (
    <div
      role="group"
      aria-label="Actions"
      className="ml-auto flex flex-none items-center gap-2 max-[599px]:ml-0 max-[599px]:flex-wrap"
    >
      <Button onClick={onCopy} title="Copy link  C">
        <Icon name="link" size={14} />
        Copy link
      </Button>
      <ExportButton run={run} />
      {fitting.action === 'first error' || fitting.action === 'show them' ? (
        <Link {...messageAddress(run.id, fitting.place)} className={buttonClass()}>
          <Icon name="down" size={14} />
          {fitting.action === 'first error' ? 'First error' : 'Show them'}
        </Link>
      ) : null}
      {run.status === 'running' && fitting.action !== 'transition' ? <EndButton run={run} /> : null}
      {fitting.action === 'transition' || fitting.action === 'repair' || fitting.action === 'cleanup' ? (
        <ActButton run={run} act={fitting.action} />
      ) : null}
    </div>
  )
}

function ExportButton({ run }: { run: RunInFull }) {
  const [isBusy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      const { file, name } = await exportSessions([run.id])
      saveFile(file, name)
    } catch (error) {
      toasts.failed('The run could not be exported', error instanceof Error ? error.message : undefined)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button disabled={isBusy} onClick={() => void save()}>
      <Icon name="export" size={14} />
      {isBusy ? 'Exporting' : 'Export'}
    </Button>
  )
}

/** What an operator is offered for it, as in every list. */
function ActButton({ run, act }: { run: RunInFull; act: Act }) {
  const ask = useAskAct()
  return (
    <Button look="primary" disabled={ask === null} onClick={() => ask?.(act, [run.id])}>
      {ACT_WORDS[act]}
    </Button>
  )
}

/** A run that may be dead can be ended here; one that works says why not, and what stops it. */
function EndButton({ run }: { run: RunInFull }) {
  const ask = useAskAct()
  const refusal = whyNotEnded(run)
  if (refusal === null) {
    return (
      <Button disabled={ask === null} onClick={() => ask?.('transition', [run.id])}>
        {run.actions.includes('transition') ? ACT_WORDS.transition : 'End run…'}
      </Button>
    )
  }
  return (
    <Popover
      label="Why this run cannot be ended here"
      align="end"
      width={400}
      trigger={
        <button type="button" className={buttonClass()}>
          How to end it…
        </button>
      }
    >
      <div className="grid gap-2.5 px-4 py-3.5">
        <p className="medium">This run cannot be ended from here.</p>
        <p className="text-text-2">{refusal.says}</p>
        <Command>{refusal.command}</Command>
      </div>
    </Popover>
  )
}
