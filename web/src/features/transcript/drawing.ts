// Which rows are drawn: those in sight at once, those around them a few in a frame, so that none of them takes long.

import { useEffect, useReducer, useRef } from 'react'

const PER_FRAME = 300 // px of rows out of sight, about; at least one row

type Rows = readonly { index: number }[]
type Sight = readonly [first: number, last: number]

/** Of these rows, those in sight and those that were drawn before. */
export function keepDrawn(rows: Rows, before: ReadonlySet<number>, [first, last]: Sight): Set<number> {
  const drawn = new Set<number>()
  for (const { index } of rows) {
    if (before.has(index) || (first <= index && index <= last)) drawn.add(index)
  }
  return drawn
}

/** Of these rows, those that are drawn, and the nearest of the others. */
export function drawMore(
  rows: Rows,
  drawn: ReadonlySet<number>,
  [first, last]: Sight,
  sizeOf: (index: number) => number,
  room = PER_FRAME,
): Set<number> {
  const more = new Set(drawn)
  const distance = (index: number): number => Math.max(first - index, index - last)
  const waiting = rows.map(({ index }) => index).filter((index) => !drawn.has(index))
  waiting.sort((one, other) => distance(one) - distance(other))
  let left = room
  for (const index of waiting) {
    const size = sizeOf(index)
    if (size > left && left < room) break
    more.add(index)
    left -= size
  }
  return more
}

const NONE: ReadonlySet<number> = new Set()

/** The rows to draw now; those that are left follow in the next frames. */
export function useDrawing(
  rows: Rows,
  inSight: Sight,
  /** How tall a row will be, about. */
  sizeOf: (index: number) => number,
  isRushing: boolean,
): ReadonlySet<number> {
  const before = useRef(NONE)
  const [, drawOn] = useReducer((frames: number) => frames + 1, 0)
  const drawn = isRushing ? NONE : keepDrawn(rows, before.current, inSight)
  useEffect(() => {
    before.current = drawn
    if (isRushing || drawn.size === rows.length) return
    const frame = requestAnimationFrame(() => {
      before.current = drawMore(rows, drawn, inSight, sizeOf)
      drawOn()
    })
    return () => cancelAnimationFrame(frame)
  })
  return drawn
}
