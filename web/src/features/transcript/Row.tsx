import type { History } from '@/api/messages'
import type { Branch, RunInFull } from '@/api/runs'
import { nameOf } from '@/vocabulary/branches'
import { DayLine } from './DayLine'
import { UNREAD } from './heights'
import { MessageRow } from './MessageRow'
import { RowBoundary } from './RowBoundary'
import type { Sought } from './sought'
import { speakerOf } from './speaker'

type Props = {
  run: RunInFull
  branch: Branch | null
  history: History
  position: number
  /** The position that is shown above it. */
  above: number | null
  isHidden: boolean
  /** The height it has, where it is not worth drawing. */
  height: number | null
  held: number | null
  /** The words for which somebody went to the one that is held. */
  sought: Sought | null
  onLink: (position: number) => void
  onSeen: (offset: number) => void
}

/** What stands at a position: a message, or a place for one that is not here yet. */
export function Row(props: Props) {
  const { run, branch, history, position, above, isHidden, height, held } = props
  const message = history.at(position)
  if (isHidden) return null
  if (message === undefined || height !== null) return <Unread position={position} height={height} />
  const standsIn = branch ?? run.branches.find((one) => message.branch_ids?.includes(one.id))
  const before = history.at(position - 1)
  const isElsewhere = before === undefined || before.branch_ids?.[0] !== message.branch_ids?.[0]
  const shown = history.callOf(message) ?? position
  const over = above === null ? undefined : history.at(above)
  const result = message.kind === 'tool_call' ? history.resultOf(message) : undefined
  return (
    <RowBoundary message={message} result={result} position={shown}>
      {above !== null && over === undefined ? null : (
        <DayLine at={message.created_at} before={over?.created_at ?? null} />
      )}
      <MessageRow
        message={message}
        position={shown}
        result={result}
        isAwaited={run.status === 'running' && !(branch !== null && history.lastTurn > position)}
        speaker={speakerOf(message, run, standsIn)}
        branchName={branch === null && isElsewhere && standsIn !== undefined ? nameOf(standsIn) : null}
        pause={branch === null || before === undefined ? null : message.created_at - before.created_at}
        isTinted={held === position}
        sought={held === position ? props.sought : null}
        onLink={props.onLink}
        onSeen={props.onSeen}
      />
    </RowBoundary>
  )
}

function Unread({ position, height }: { position: number; height: number | null }) {
  return (
    <div
      aria-hidden="true"
      style={{ height: height ?? UNREAD }}
      className="grid overflow-clip grid-cols-[44px_24px_minmax(0,1fr)] gap-x-3 py-2 pr-4"
    >
      <span className="text-right font-mono text-11 leading-6 text-text-3">{position}</span>
      <span className="size-6 rounded-control bg-active" />
      <span className="grid content-start gap-2.5 pt-2">
        <span className="h-2.5 w-32 rounded-[3px] bg-active" />
        <span className="h-2.5 w-2/3 rounded-[3px] bg-active" />
      </span>
    </div>
  )
}
