import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, memo, useMemo, useState } from 'react'
import type { RunInFull, Span } from '@/api/runs'
import { countOf, formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatClock } from '@/lib/time'
import { branchTone } from '@/vocabulary/branches'
import { messageAddress } from '@/vocabulary/MessageLink'
import { type Lane, type Mark, marksOf, nearest, placeOf, type Range } from './lanes'
import { branchName } from './words'

const REACH = 4 // px around a mark that still mean it
const ROW = 26
const BAR = 12
// px of what has no end yet. Nothing was heard after a dead run asked, so all of its bar is this.
const LEAST = { going: 8, silent: 28 }

type Props = { lane: Lane; spans: readonly Span[] | undefined; run: RunInFull; range: Range }

/** One branch: what it did, and the message behind what is pointed at. */
export function LaneRow({ lane, spans = [], run, range }: Props) {
  const { branch, depth } = lane
  const navigate = useNavigate()
  const [chosen, choose] = useState<string | null>(null)
  const marks = useMemo(() => marksOf(branch, spans, run, range), [branch, spans, run, range])
  const at = marks.findIndex((one) => keyOf(one) === chosen) // which changes when others come before it
  const mark = marks[at]
  const setAt = (index: number): void => choose(marks[index] === undefined ? null : keyOf(marks[index]))
  const open = (one: Mark | undefined): void => {
    if (one === undefined) return
    void navigate(messageAddress(run.id, { branch_id: branch.id, position: one.position }))
  }
  const point = (event: MouseEvent<HTMLElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    const percent = ((event.clientX - box.left) / box.width) * 100
    return nearest(marks, percent, range, (REACH / box.width) * 100)
  }
  const move = (event: KeyboardEvent): void => {
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: marks.length - 1 }[event.key]
    if (next === undefined && event.key !== 'Enter') return
    event.preventDefault()
    event.stopPropagation()
    if (next === undefined) open(mark)
    else setAt(Math.min(marks.length - 1, Math.max(0, next)))
  }
  const name = branchName(branch)
  return (
    <div className="lane" style={{ height: ROW }}>
      <span className="flex min-w-0 items-center gap-2 text-12">
        <span className={`t-${branchTone(branch, run)} size-[7px] flex-none rounded-full bg-tone`} />
        <span className="cut" style={{ paddingLeft: Math.min(depth, 4) * 14 }}>
          {name}
        </span>
        <span className="ml-auto whitespace-nowrap text-text-3">{formatCount(branch.message_count)} msg</span>
      </span>
      <div
        role="slider"
        tabIndex={0}
        aria-label={`Timeline of ${name}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, marks.length - 1)}
        aria-valuenow={Math.max(0, at)}
        aria-valuetext={mark === undefined ? countOf(marks.length, 'mark') : tellingOf(mark)}
        aria-orientation="horizontal"
        className={`lane-track ${mark === undefined ? '' : 'cursor-pointer'}`}
        onPointerMove={(event) => setAt(point(event))}
        onPointerLeave={() => setAt(-1)}
        onBlur={() => setAt(-1)}
        onClick={(event) => open(marks[point(event)])} // a finger points at nothing before it presses
        onKeyDown={move}
      >
        <Fork lane={lane} range={range} />
        <Marks marks={marks} range={range} />
        {mark === undefined ? null : <Telling mark={mark} range={range} />}
      </div>
    </div>
  )
}

function Fork({ lane, range }: { lane: Lane; range: Range }) {
  if (lane.rowsUp === null) return null
  const height = lane.rowsUp * ROW - (ROW - BAR) / 2 - BAR / 2
  return <i className="lane-fork" style={{ left: `${placeOf(lane.branch.created_at, range)}%`, height }} />
}

const LOOKS: Record<Mark['kind'], string> = {
  model: 'lane-model',
  tool: 'lane-tool',
  human: 'lane-human',
  unknown: 'lane-tool',
  error: 'lane-error',
}

// Hundreds of them: drawn again only when they or the range have changed, not for each move of the pointer.
const Marks = memo(function Marks({ marks, range }: { marks: readonly Mark[]; range: Range }) {
  const least = range.isSilent ? LEAST.silent : LEAST.going
  return marks.map((mark) => {
    const left = placeOf(mark.from, range)
    return (
      <i
        key={keyOf(mark)}
        className={`${LOOKS[mark.kind]} ${mark.isOpen && mark.kind === 'tool' ? 'lane-open' : ''}`}
        style={
          mark.kind === 'error'
            ? { left: `${left}%` }
            : {
                left: `min(${left}%, 100% - ${mark.isOpen ? least : LEAST.going}px)`,
                width: `${placeOf(mark.to, range) - left}%`,
                ...(mark.isOpen ? { minWidth: least } : {}),
              }
        }
      />
    )
  })
})

/** What is pointed at, above the lane and never outside of it. */
function Telling({ mark, range }: { mark: Mark; range: Range }) {
  const middle = (placeOf(mark.from, range) + placeOf(mark.to, range)) / 2
  const side = middle < 30 ? { left: `${middle}%` } : { right: `${100 - middle}%` }
  return (
    <span
      className="pointer-events-none absolute bottom-full z-10 mb-0.5 max-w-[420px] cut rounded-control bg-accent px-2.5 py-1 text-12 text-on-accent shadow-2"
      style={side}
    >
      {tellingOf(mark)}
    </span>
  )
}

const keyOf = (mark: Mark): string => `${mark.kind} ${mark.from} ${mark.position}`

const tellingOf = (mark: Mark): string =>
  `${formatClock(mark.from)} · ${plainLine(mark.says)} · #${mark.position}`
