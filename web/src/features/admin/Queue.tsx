import { useMemo, useState } from 'react'
import { CleanupDialog } from '@/actions/CleanupDialog'
import { RepairDialog } from '@/actions/RepairDialog'
import { TransitionDialog } from '@/actions/TransitionDialog'
import type { QueueRow as Row } from '@/api/admin'
import { useSteady } from '@/lib/held'
import { useKeys } from '@/lib/keys'
import { formatCount } from '@/lib/numbers'
import { useRowKeys } from '@/lib/rowKeys'
import { Button } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { Panel } from '@/ui/Panel'
import { EmptyState } from '@/ui/states'
import type { Act } from '@/vocabulary/operatorActs'
import { BulkBar } from './BulkBar'
import { PruneDialog } from './PruneDialog'
import { QueueRow } from './QueueRow'

type Asked = { act: Act | 'prune'; ids: string[] }
type Props = {
  rows: readonly Row[]
  /** How many there are in all, beyond those that are here. */
  total: number
  onMore: () => void
  /** A transition that somebody asked for elsewhere on the page. */
  asked: string[]
  onAsked: (ids: string[]) => void
}

const toRow = (row: Row) => ({ ...row, id: row.session_id })

/** Runs that need somebody, the most urgent first. Rows change in place; new ones wait until they are asked for. */
export function Queue({ rows, total, onMore, asked, onAsked }: Props) {
  const steady = useSteady(useMemo(() => rows.map(toRow), [rows]))
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [question, setQuestion] = useState<Asked | null>(null)
  const there = steady.shown.filter(({ isGone }) => !isGone).map(({ row }) => row)
  const chosen = there.filter((row) => selected.has(row.id))
  const select = (id: string, isOn: boolean) => {
    const next = new Set(selected)
    if (isOn) next.add(id)
    else next.delete(id)
    setSelected(next)
  }
  const ask = (act: Asked['act'], ids: string[]) =>
    act === 'transition' ? onAsked(ids) : setQuestion({ act, ids })
  const done = (ids: readonly string[]) => {
    setSelected(new Set())
    steady.forget(ids)
  }
  const close = () => setQuestion(null)
  const table = useRowKeys<HTMLTableElement>()
  const selectFocused = () => {
    const id = document.activeElement?.closest<HTMLElement>('tr[data-run]')?.dataset.run
    if (id !== undefined && there.some((row) => row.id === id)) select(id, !selected.has(id))
  }
  useKeys({ x: { does: 'Select row', act: selectFocused } })
  const all = chosen.length === 0 ? false : chosen.length === there.length ? true : 'some'
  return (
    <Panel
      title="Intervention queue"
      count={formatCount(total)}
      beside={<span className="text-12 text-text-3">most urgent first</span>}
      more={
        <span className="flex h-6 min-w-16 items-center justify-end">
          {steady.waiting === 0 ? null : (
            <Button look="ghost" size="small" onClick={steady.refresh}>
              {formatCount(steady.waiting)} new
            </Button>
          )}
        </span>
      }
      className="overflow-hidden"
    >
      {steady.shown.length === 0 ? (
        <EmptyState title="No run needs an operator.">
          <p>
            No run is stale, orphaned, unresponsive or a zombie. The doctor looks every few minutes; a death
            on this machine is seen at once.
          </p>
        </EmptyState>
      ) : (
        <>
          <div className="@container">
            <table
              ref={table}
              className="w-full table-fixed @max-[719px]:block"
              aria-label="Intervention queue"
            >
              <colgroup>
                <col className="w-10" />
                <col className="w-[284px] @min-[1020px]:w-[300px]" />
                <col />
                <col className="w-[84px] @max-[819px]:hidden" />
                <col className="w-[160px] @max-[1019px]:hidden" />
                <col className="w-[84px]" />
                <col className="w-[184px]" />
              </colgroup>
              <thead className="h-8 border-b border-line bg-sunken text-left text-12 text-text-3 @max-[719px]:block">
                <tr className="[&>th]:px-2 [&>th]:font-medium @max-[719px]:flex @max-[719px]:h-8 @max-[719px]:items-center @max-[719px]:[&>th:not(:first-child)]:sr-only">
                  <th>
                    <Checkbox
                      label="Select all"
                      checked={all}
                      onChange={(isOn) => setSelected(new Set(isOn ? there.map((row) => row.id) : []))}
                    />
                  </th>
                  <th>State</th>
                  <th>Session</th>
                  <th className="@max-[819px]:hidden">Kind</th>
                  <th className="@max-[1019px]:hidden">Invocation</th>
                  <th className="text-right">Last event</th>
                  <th className="pr-4! text-right">Action</th>
                </tr>
              </thead>
              <tbody className="@max-[719px]:block">
                {steady.shown.map(({ row, isGone }) => (
                  <QueueRow
                    key={row.id}
                    row={row}
                    isGone={isGone}
                    isSelected={!isGone && selected.has(row.id)}
                    onSelect={(isOn) => select(row.id, isOn)}
                    onAct={(act) => ask(act, [row.id])}
                  />
                ))}
              </tbody>
            </table>
          </div>
          {total > rows.length ? (
            <div className="border-t border-line px-4 py-2">
              <Button look="ghost" size="small" onClick={onMore}>
                Show more of {formatCount(total)}
              </Button>
            </div>
          ) : null}
          <BulkBar
            chosen={chosen}
            onClear={() => setSelected(new Set())}
            onAsk={(act) =>
              ask(
                act,
                chosen.map((row) => row.id),
              )
            }
          />
        </>
      )}
      <TransitionDialog
        sessionIds={asked}
        open={asked.length > 0}
        onClose={() => onAsked([])}
        onDone={() => done(asked)}
      />
      {question?.act === 'cleanup' ? (
        <CleanupDialog ids={question.ids} onClose={close} onDone={() => done(question.ids)} />
      ) : null}
      {question?.act === 'repair' ? (
        <RepairDialog
          ids={question.ids}
          onClose={close}
          onDone={() => done(question.ids)}
          onTransition={onAsked}
        />
      ) : null}
      {question?.act === 'prune' ? (
        <PruneDialog ids={question.ids} onClose={close} onDone={() => done(question.ids)} />
      ) : null}
    </Panel>
  )
}
