import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type RunInFull, timelineQuery } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { countOf } from '@/lib/numbers'
import { formatClock, formatDay, formatSpan, formatTime } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { Trouble } from '@/vocabulary/Trouble'
import { LaneRow } from './LaneRow'
import { lanesOf, placeOf, type Range, rangeOf, ticksOf } from './lanes'

const LANES_AT_FIRST = 8
const AGAIN_AFTER = 2000 // ms: messages may come by the dozen, and a timeline changes by pixels

/** Who was busy when, a lane for each branch. */
export function Timeline({ run }: { run: RunInFull }) {
  const now = useNow(run.started_at)
  const range = rangeOf(run, now)
  const timeline = useTimeline(run)
  const [isWhole, setWhole] = useState(false)
  const lanes = lanesOf(run.branches)
  const shown = isWhole ? lanes : lanes.slice(0, LANES_AT_FIRST)
  const spans = new Map(timeline.data?.lanes.map((lane) => [lane.branch_id, lane.spans]))
  // A run that still works has at least a time in which it does; one that was over at once has nothing to show.
  const isBare = !range.isNow && timeline.data?.lanes.every((lane) => lane.spans.length === 0) === true
  return (
    <Panel
      title="Timeline"
      beside={<Legend />}
      more={
        <span className="hidden wide:inline">
          {formatSpan(range.from, range.isNow ? null : range.to, now)}
          {range.isSilent ? ', its last sign of life' : ''}
        </span>
      }
    >
      {timeline.error ? <Trouble error={timeline.error} retry={() => void timeline.refetch()} /> : null}
      <div className="px-4 py-2.5">
        {shown.map((lane) => (
          <LaneRow
            key={lane.branch.id}
            lane={lane}
            spans={spans.get(lane.branch.id)}
            run={run}
            range={range}
          />
        ))}
        {shown.length < lanes.length ? (
          <button
            type="button"
            className="h-6 text-12 medium text-text-2 hover:text-text"
            onClick={() => setWhole(true)}
          >
            Show {countOf(lanes.length - shown.length, 'more branch', 'more branches')}
          </button>
        ) : null}
        {isBare ? (
          <p className="min-h-[18px] text-12 leading-[18px] text-text-3">
            Too little time passed between its messages to draw it.
          </p>
        ) : (
          <Axis range={range} />
        )}
      </div>
    </Panel>
  )
}

/** What was read, and again a while after something was said. */
function useTimeline(run: RunInFull) {
  const queries = useQueryClient()
  const known = useRef(run.updated_at)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (known.current === run.updated_at) return
    known.current = run.updated_at
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      void queries.invalidateQueries({ queryKey: timelineQuery(run.id).queryKey })
    }, AGAIN_AFTER)
  }, [queries, run.id, run.updated_at])
  useEffect(() => () => clearTimeout(timer.current), [])
  return useQuery(timelineQuery(run.id))
}

function Legend() {
  return (
    <div className="ml-2 flex flex-wrap gap-x-3 text-12 text-text-2">
      <Key mark={<span className="t-info size-2 rounded-[2px] bg-tone" />}>model</Key>
      <Key mark={<span className="t-neutral size-2 rounded-[2px] bg-tone" />}>tool</Key>
      <Key mark={<span className="t-review size-2 rounded-[2px] bg-tone" />}>waiting for a person</Key>
      <Key mark={<span className="t-danger h-2.5 w-[3px] rounded-[1px] bg-tone" />}>tool error</Key>
    </div>
  )
}

function Key({ mark, children }: { mark: ReactNode; children: string }) {
  return (
    <span className="inline-flex items-center gap-[5px] whitespace-nowrap">
      {mark}
      {children}
    </span>
  )
}

function Axis({ range }: { range: Range }) {
  return (
    <div aria-hidden="true" className="lane h-[18px]">
      <span />
      <span className="relative text-11 leading-[18px] text-text-3">
        {ticksOf(range).map(({ at, step }) => (
          <span key={at} className="absolute whitespace-nowrap" style={{ left: `${placeOf(at, range)}%` }}>
            {step < 60 ? formatClock(at) : step < 86_400 ? formatTime(at) : formatDay(at)}
          </span>
        ))}
        {range.isNow ? <span className="absolute right-0">now</span> : null}
        {range.isSilent ? <span className="absolute right-0">last sign of life</span> : null}
      </span>
    </div>
  )
}
