import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type ToolErrors as Kind, type MessagePlace, messageAtQuery, type RunInFull } from '@/api/runs'
import { stripAnsi } from '@/lib/ansi'
import { useNow } from '@/lib/clock'
import { countOf, formatCount } from '@/lib/numbers'
import { plainLine, plainText } from '@/lib/plain'
import { formatBetween, formatMoment } from '@/lib/time'
import { IconButton } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { MessageLink } from '@/vocabulary/MessageLink'
import { Trouble } from '@/vocabulary/Trouble'
import { placeOf, type Range, rangeOf } from './lanes'
import { branchNamed, errorKinds, errorPlaces, failureText } from './words'

const KINDS_AT_FIRST = 8
const LINES = 14 // of what the tool said; the last ones, because that is where tools say what went wrong
const LETTERS = 4000
const LATEST = 6

/** Which tools failed, how often and where, grouped by what they said. */
export function ToolErrors({ run }: { run: RunInFull }) {
  const [isWhole, setWhole] = useState(false)
  const [openAtFirst] = useState(() => run.tool_errors[0]) // what comes later opens only when asked, and moves nothing
  const range = rangeOf(run, useNow(run.started_at))
  const count = run.tool_error_count
  const rarer = run.tool_error_kinds_left_out
  const kinds = isWhole ? run.tool_errors : run.tool_errors.slice(0, KINDS_AT_FIRST)
  const left = run.tool_errors.length - kinds.length
  return (
    <Panel
      id="tool-errors"
      className="overflow-hidden"
      title="Tool errors"
      count={formatCount(count)}
      beside={
        count === 0 ? null : (
          <span className="cut text-12 text-text-3">
            {countOf(errorKinds(run), 'kind')}, grouped by tool and message
          </span>
        )
      }
    >
      {count === 0 ? <p className="px-4 py-3 text-text-3">No tool failed in this run.</p> : null}
      <ul>
        {kinds.map((kind) => (
          <KindRow
            key={`${kind.tool} ${kind.first_at}`}
            run={run}
            kind={kind}
            range={range}
            startsOpen={kind.tool === openAtFirst?.tool && kind.first_at === openAtFirst.first_at}
          />
        ))}
      </ul>
      {left > 0 ? (
        <button
          type="button"
          className="h-9 w-full px-4 text-left text-12 medium text-text-2 hover:bg-hover hover:text-text"
          onClick={() => setWhole(true)}
        >
          Show {countOf(left, 'more kind')}
        </button>
      ) : rarer > 0 ? (
        <p className="border-t border-line px-4 py-2 text-12 text-text-3">
          {countOf(rarer, 'rarer kind')} {rarer === 1 ? 'is' : 'are'} not listed. The transcript shows every
          error.
        </p>
      ) : null}
    </Panel>
  )
}

type RowProps = { run: RunInFull; kind: Kind; range: Range; startsOpen: boolean }

function KindRow({ run, kind, range, startsOpen }: RowProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  const now = useNow(kind.last_at)
  const id = useId()
  const last = kind.latest[0]?.place ?? null
  const tool = plainLine(kind.tool ?? 'unknown')
  return (
    <li className="border-b border-line last:border-0">
      <div className="grid min-h-11 grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 pr-4 pl-2 wide:grid-cols-[148px_minmax(0,1fr)_168px_132px_60px]">
        <span className="flex min-w-0 items-center gap-1.5">
          <IconButton
            title={isOpen ? `Close ${tool}` : `Open ${tool}`}
            className="size-6"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'down' : 'right'} size={12} />
          </IconButton>
          <span
            className="mono cut h-5 max-w-24 rounded-chip border border-line-strong px-[5px] leading-[18px]"
            title={tool}
          >
            {tool}
          </span>
          <b className="strong">×{formatCount(kind.times)}</b>
        </span>
        <span className="grid min-w-0 py-1">
          <span className="mono cut text-[12px] leading-[18px]" title={plainLine(kind.sentence)}>
            {plainLine(kind.sentence) || 'It said nothing.'}
          </span>
          <span className="cut text-12 text-text-3">{errorPlaces(run, kind)}</span>
        </span>
        <Ticks kind={kind} range={range} />
        <span className="hidden text-right whitespace-nowrap text-text-2 wide:block">
          {kind.times > 1
            ? formatBetween(kind.first_at, kind.last_at, now)
            : formatMoment(kind.first_at, now)}
        </span>
        <span className="text-right whitespace-nowrap">
          {last === null ? null : (
            <MessageLink runId={run.id} place={last} className="medium text-text-2 hover:underline">
              Last one
            </MessageLink>
          )}
        </span>
      </div>
      <div id={id} hidden={!isOpen} className="grid gap-2 px-4 pb-3.5 wide:pl-10">
        {isOpen && last !== null ? <LastOne run={run} place={last} /> : null}
        {isOpen ? <Latest run={run} kind={kind} /> : null}
      </div>
    </li>
  )
}

/** When it happened, over the time of the run. */
function Ticks({ kind, range }: { kind: Kind; range: Range }) {
  return (
    <span
      role="img"
      aria-label={`${countOf(kind.times, 'time')} over the run`}
      className="lane-track hidden h-5 wide:block"
    >
      {kind.latest.map((failure) => (
        <i
          key={failure.message_id}
          className="lane-tick"
          style={{ left: `${placeOf(failure.at, range)}%` }}
        />
      ))}
    </span>
  )
}

function LastOne({ run, place }: { run: RunInFull; place: MessagePlace }) {
  const message = useQuery(messageAtQuery(run.id, place))
  if (message.isPending) return <Skeleton rows={2} height={24} />
  if (message.error) return <Trouble error={message.error} retry={() => void message.refetch()} />
  const text = stripAnsi(failureText(message.data?.content)).trimEnd()
  const lines = text.slice(-LETTERS).split('\n').slice(-LINES)
  const shown = lines.join('\n')
  return (
    <pre
      className="mono overflow-x-auto rounded-control border border-line bg-sunken px-3 py-2.5 leading-[19px] whitespace-pre"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard
      tabIndex={0}
    >
      {shown.length < text.length ? '… ' : ''}
      {plainText(shown) || 'It said nothing.'}
    </pre>
  )
}

function Latest({ run, kind }: { run: RunInFull; kind: Kind }) {
  const places = kind.latest.map((failure) => failure.place).filter((place) => place !== null)
  const shown = places.slice(0, LATEST)
  const left = kind.times - shown.length
  let before = ''
  return (
    <p className="flex flex-wrap gap-x-2 text-12 text-text-3">
      {shown.map((place) => {
        const branch = place.branch_id === before ? '' : `${branchNamed(run, place.branch_id)} `
        before = place.branch_id
        return (
          <MessageLink key={`${place.branch_id} ${place.position}`} runId={run.id} place={place}>
            {branch}#{place.position}
          </MessageLink>
        )
      })}
      {left > 0 ? <span>and {formatCount(left)} more</span> : null}
    </p>
  )
}
