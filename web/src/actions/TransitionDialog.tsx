import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Plan, transition, transitionPlanQuery } from '@/api/admin'
import { type Schema, StudioError } from '@/api/client'
import { timeOfStudio } from '@/lib/clock'
import { countOf } from '@/lib/numbers'
import { formatClock } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { Dialog } from '@/ui/Dialog'
import { FormField, FormSelect, FormText } from '@/ui/FormField'
import { Keycap } from '@/ui/Keycap'
import { Segmented } from '@/ui/Segmented'
import { Skeleton } from '@/ui/states'
import { toasts } from '@/ui/toasts'
import {
  END_REASON_WORDS,
  END_STATUSES,
  type EndReason,
  type EndStatus,
  isEndReason,
} from '@/vocabulary/admin'
import { STATUS_WORDS } from '@/vocabulary/looks'
import { Trouble } from '@/vocabulary/Trouble'
import { AffectedRuns } from './AffectedRuns'
import { leaveOutWords, RefusalNote } from './RefusalNote'

type Props = { sessionIds: string[]; open: boolean; onClose: () => void; onDone?: () => void }
type Transitions = Schema['Transitions']

/** Ends runs that cannot end themselves. What would be refused, and why, is said before anything is pressed. */
export function TransitionDialog({ open, ...rest }: Props) {
  return open ? <Question {...rest} /> : null
}

function Question({ sessionIds, onClose, onDone }: Omit<Props, 'open'>) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [ids, setIds] = useState(sessionIds)
  const [target, setTarget] = useState<EndStatus>('failed')
  const [chosen, setChosen] = useState<EndReason | null>(null)
  const [suggested, setSuggested] = useState<EndReason>('run.health.process_dead')
  const [note, setNote] = useState('')
  const [force, setForce] = useState(false)
  const reason = chosen ?? suggested
  const order = {
    session_ids: ids,
    target_status: target,
    reason,
    force,
    ...(note.trim() === '' ? {} : { note: note.trim() }),
  }
  const planQuery = transitionPlanQuery(order)
  const act = useMutation({
    mutationFn: () => transition(order),
    onSuccess: (done) => {
      toasts.done(
        `${countOf(done.items.length, 'run')} transitioned to ${STATUS_WORDS[target].toLowerCase()}`,
        `${countOf(done.items.length, 'entry', 'entries')} in the event log.`,
        {
          action: {
            label: 'Show',
            onClick: () => void navigate({ to: '/admin/events', search: { action: 'transition' } }),
          },
        },
      )
      onDone?.()
      onClose()
    },
    // Refused after all: something changed between the plan and the press, and the plan says what.
    onError: () => void queries.invalidateQueries({ queryKey: planQuery.queryKey }),
  })
  // Once it is pressed nobody asks again: the answer would be that these runs have just ended.
  const isActing = act.isPending || act.isSuccess
  const plan = useQuery({ ...planQuery, enabled: !isActing })
  const found = plan.data === undefined ? null : suggestReason(plan.data)
  if (chosen === null && found !== null && found !== suggested) setSuggested(found)

  const refusals = plan.data?.refusals ?? []
  const isAsking = plan.isPending || plan.isPlaceholderData
  const leaveOut = () => setIds(ids.filter((id) => !refusals.some((refusal) => refusal.session_id === id)))
  const isAlive = refusals.some((refusal) => refusal.code === 'process_is_alive')
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Transition ${countOf(ids.length, 'session')} to ${STATUS_WORDS[target].toLowerCase()}?`}
      says={`Records and artifacts stay. ${ids.length === 1 ? 'The session becomes final, and one audit entry is written.' : 'The sessions become final, and one audit entry is written for each.'}`}
      foot={
        <Foot
          target={target}
          refused={refusals.length}
          left={ids.length - refusals.length}
          isAsking={isAsking || plan.isError}
          isActing={isActing}
          onCancel={onClose}
          onLeaveOut={leaveOut}
          onAct={() => act.mutate()}
        />
      }
    >
      <div className="grid gap-4 wide:grid-cols-2">
        <div className="grid gap-1.5">
          <span className="text-12 medium text-text-2">New status</span>
          <Segmented
            label="New status"
            words={END_STATUSES.map((word) => ({ word, text: STATUS_WORDS[word] }))}
            value={target}
            onChange={setTarget}
          />
        </div>
        <FormField label="Reason">
          <FormSelect
            value={reason}
            onChange={(event) => setChosen(isEndReason(event.target.value) ? event.target.value : null)}
          >
            {Object.entries(END_REASON_WORDS).map(([code, words]) => (
              <option key={code} value={code}>
                {words}
              </option>
            ))}
          </FormSelect>
        </FormField>
      </div>
      <FormField
        label="Note"
        aside={force ? 'needed to force it, kept in the audit log' : 'optional, kept in the audit log'}
      >
        <FormText
          value={note}
          maxLength={4000}
          required={force}
          onChange={(event) => setNote(event.target.value)}
        />
      </FormField>
      {refusals.length > 0 ? (
        <RefusalNote refused={refusals.length} asked={ids.length} act="A transition">
          {isAlive ? (
            <p>
              A process that lives is stopped by <code className="mono">li runs kill</code>. To end only its
              record, force it.
            </p>
          ) : null}
        </RefusalNote>
      ) : null}
      {isAlive || force ? (
        <div className="flex items-center gap-1.5">
          <Checkbox label="Force" checked={force} onChange={setForce} />
          <span>
            Force: end it although its process lives{' '}
            <span className="text-text-3">(say why in the note)</span>
          </span>
        </div>
      ) : null}
      {act.error instanceof StudioError && act.error.refusals.length === 0 ? (
        <Trouble error={act.error} />
      ) : null}
      {plan.isPending ? <Skeleton rows={Math.min(ids.length, 5)} height={34} /> : null}
      {plan.error ? <Trouble error={plan.error} retry={() => void plan.refetch()} /> : null}
      {plan.data === undefined ? null : (
        <AffectedRuns
          title="Affected sessions"
          isActing={isActing}
          refusals={refusals}
          allowed={(plan.data.answer?.items ?? []).map((item) => ({
            id: item.session_id,
            title: whyOf(item),
          }))}
          aside={plan.isFetching ? 'checking' : `checked ${formatClock(timeOfStudio(plan.dataUpdatedAt))}`}
        />
      )}
    </Dialog>
  )
}

type FootProps = {
  target: EndStatus
  refused: number
  left: number
  isAsking: boolean
  isActing: boolean
  onCancel: () => void
  onLeaveOut: () => void
  onAct: () => void
}

function Foot({ target, refused, left, isAsking, isActing, onCancel, onLeaveOut, onAct }: FootProps) {
  return (
    <>
      <span className="mr-auto flex items-center gap-2 text-12 text-text-3">
        <Keycap>Esc</Keycap> to cancel
      </span>
      <Button size="large" onClick={onCancel}>
        Cancel
      </Button>
      <Button
        size="large"
        look={refused === 0 ? 'primary' : 'plain'}
        disabled={refused > 0 || left === 0 || isAsking || isActing}
        onClick={onAct}
      >
        {isActing ? 'Transitioning' : `Transition to ${STATUS_WORDS[target].toLowerCase()}`}
      </Button>
      {refused > 0 && left > 0 ? (
        <Button size="large" look="primary" disabled={isAsking} onClick={onLeaveOut}>
          {leaveOutWords(refused)}
        </Button>
      ) : null}
    </>
  )
}

/** Why a run is held to be dead, in its own words. */
const whyOf = (item: Transitions['items'][number]): string =>
  item.reasons.map((reason) => reason.sentence).join(' ')

/** The reason that most of the runs have themselves. */
function suggestReason(plan: Plan<Transitions>): EndReason | null {
  const times = new Map<EndReason, number>()
  for (const item of plan.answer?.items ?? []) {
    const codes = item.reasons.map((reason) => reason.code).filter(isEndReason)
    // That nothing ever came of it says more than that its process is gone.
    const code = item.health === 'orphaned' ? codes.at(-1) : codes[0]
    if (code !== undefined) times.set(code, (times.get(code) ?? 0) + 1)
  }
  return [...times].sort((one, other) => other[1] - one[1])[0]?.[0] ?? null
}
