import type { PointerEvent } from 'react'
import type { Pointed } from './ReadOut'

export type Bar = { label: string; count: number; tone: string }
/** A word below the line between two bars, and whether that line is a limit. */
export type Edge = { after: number; label: string; isLimit?: boolean }

const AXIS = 16
const LEAST = 3 // px: one is never invisible
const GAP = 0.16 // of a bar

type Props = {
  bars: readonly Bar[]
  edges: readonly Edge[]
  height: number
  onPoint: (pointed: Pointed | null) => void
}

/** A distribution: one bar beside the other, with words for the edges that matter. */
export function Bars({ bars, edges, height, onPoint }: Props) {
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const place = (event.clientX - left) / width
    onPoint({ index: Math.min(bars.length - 1, Math.max(0, Math.floor(place * bars.length))), left: place })
  }
  const most = Math.max(1, ...bars.map((bar) => bar.count))
  const room = height - AXIS
  return (
    <span className="block" style={{ height }} onPointerMove={point} onPointerLeave={() => onPoint(null)}>
      <svg
        aria-hidden="true"
        className="block w-full overflow-visible"
        height={room}
        viewBox={`0 0 ${bars.length} ${room}`}
        preserveAspectRatio="none"
      >
        <line
          x1={0}
          x2={bars.length}
          y1={room - 0.5}
          y2={room - 0.5}
          className="stroke-line-strong"
          vectorEffect="non-scaling-stroke"
        />
        {bars.map((bar, index) => {
          const tall = bar.count === 0 ? 0 : Math.max(LEAST, (bar.count / most) * (room - 1))
          return (
            <rect
              key={bar.label}
              x={index + GAP / 2}
              y={room - tall}
              width={1 - GAP}
              height={tall}
              className={`t-${bar.tone} fill-tone`}
            />
          )
        })}
        {edges.map((edge) =>
          edge.isLimit ? (
            <line
              key={edge.label}
              x1={edge.after}
              x2={edge.after}
              y1={0}
              y2={room}
              strokeDasharray="3 3"
              className="t-warning stroke-tone"
              vectorEffect="non-scaling-stroke"
            />
          ) : null,
        )}
      </svg>
    </span>
  )
}

/** The words below the bars. */
export function BarWords({ bars, edges }: Pick<Props, 'bars' | 'edges'>) {
  return edges.map((edge) => (
    <span
      key={edge.label}
      className="absolute bottom-0 -translate-x-1/2 text-11 leading-none text-text-3"
      style={{ left: `${(edge.after / bars.length) * 100}%` }}
    >
      {edge.label}
    </span>
  ))
}
