// The scroll of a transcript: which rows are drawn, what stays still, and whether it follows the end.

import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { History } from '@/api/messages'
import { estimateHeight } from './heights'

const FOLLOWS_WITHIN = 40 // px from the end
const NEAR = 4 // px
const OVERSCAN = 5
const AHEAD = 25 // messages beyond the drawn ones that are read as well
const READ_EVERY = 60 // ms, while somebody drags the scroll bar through thousands
const BY_HAND = 1000 // ms after the last touch, wheel or key in which a scroll is the reader's
const RUSH = 80 // ms after which what stands still is drawn
const ROOM_BELOW = 56 // px, so that the button for new messages hides nothing

export type Log = {
  virtualizer: Virtualizer<HTMLDivElement, Element>
  /** The position in a row. */
  positionAt: (index: number) => number
  /** How tall a row will be, about. */
  sizeOf: (index: number) => number
  /** How many messages came since the reader left the end. */
  newCount: number
  isFollowing: boolean
  /** Rows pass by too quickly to be read, so they need not be drawn. */
  isRushing: boolean
  /** The message that is kept in the middle until the reader scrolls. */
  held: number | null
  hold: (position: number) => void
  /** What is looked for in it is so far below its top: of a message that is taller than the pane, that is in the middle. */
  holdAt: (offset: number) => void
  /** The reader scrolls. */
  release: () => void
  goToBeginning: () => void
  follow: () => void
  onScroll: () => void
}

export function useLog(
  history: History,
  positions: readonly number[] | null,
  isHidden: (position: number) => boolean,
  /** The position under which a message is shown: of a result, that of its call. */
  settle: (position: number) => number,
  pane: RefObject<HTMLDivElement | null>,
): Log {
  const count = positions === null ? history.length : positions.length
  const positionAt = useCallback(
    (index: number): number => (positions === null ? index + 1 : (positions[index] ?? 0)),
    [positions],
  )
  const [held, setHeld] = useState<number | null>(null)
  const [within, setWithin] = useState<number | null>(null) // px below the top of what is held
  const [leftAt, setLeftAt] = useState<number | null>(null) // how long the history was when the reader left its end
  const top = useRef(0) // where the pane was scrolled to, as far as we know
  const touchedAt = useRef(Number.NEGATIVE_INFINITY)
  // By however little: a scroll begins slowly, and must not be taken back. Rows that are measured move the pane as well.
  const isGoingUp = (element: HTMLElement, before: number): boolean =>
    performance.now() - touchedAt.current < BY_HAND &&
    element.scrollTop < before &&
    distanceFromEnd(element) > 1

  const estimateSize = useCallback(
    (index: number): number => {
      const position = positionAt(index)
      return isHidden(position) ? 0 : estimateHeight(history.at(position))
    },
    [history, positionAt, isHidden],
  )
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => pane.current,
    estimateSize,
    getItemKey: positionAt,
    overscan: OVERSCAN,
    paddingStart: 4,
    paddingEnd: ROOM_BELOW,
    anchorTo: 'end',
    scrollEndThreshold: FOLLOWS_WITHIN,
    initialOffset: () => count * estimateHeight(undefined),
  })

  useMeasureAgainByWidth(virtualizer, pane)
  useReading(history, virtualizer, positions)

  const total = virtualizer.getTotalSize()
  const version = history.version()
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever changes the height of anything
  useLayoutEffect(() => {
    const element = pane.current
    if (element === null) return
    if (held !== null) centre(virtualizer, element, indexOf(positions, settle(held)), within)
    else if (leftAt === null && !isGoingUp(element, top.current)) {
      element.scrollTop = element.scrollHeight
      top.current = element.scrollTop
    }
  }, [held, within, leftAt, version, total, positions])

  const rush = useRush()
  const onScroll = (): void => {
    const element = pane.current
    if (element === null) return
    const before = top.current
    top.current = element.scrollTop
    rush.moved(rowsIn(element, virtualizer), held === null && leftAt !== null)
    if (held !== null) {
      // Not the reader, who would have let go of it: the router, which puts every scroll back where it was.
      centre(virtualizer, element, indexOf(positions, settle(held)), within)
      return
    }
    const isAtEnd = distanceFromEnd(element) <= FOLLOWS_WITHIN && !isGoingUp(element, before)
    if (isAtEnd && leftAt !== null) setLeftAt(null)
    if (!isAtEnd && leftAt === null) setLeftAt(history.length)
  }
  return {
    virtualizer,
    positionAt,
    sizeOf: estimateSize,
    held,
    newCount: leftAt === null ? 0 : countAfter(leftAt, positions, history.length),
    isFollowing: leftAt === null && held === null,
    isRushing: rush.isRushing,
    hold: (position) => {
      history.need([[position - AHEAD, position + AHEAD]])
      setHeld(position)
      setWithin(null)
      setLeftAt(history.length)
    },
    holdAt: setWithin,
    release: () => {
      touchedAt.current = performance.now()
      setHeld(null)
    },
    goToBeginning: () => {
      if (pane.current === null || pane.current.scrollTop === 0) return
      setHeld(null)
      setLeftAt(leftAt ?? history.length)
      pane.current.scrollTop = 0
    },
    follow: () => {
      top.current = 0
      setHeld(null)
      setLeftAt(null)
    },
    onScroll,
  }
}

function distanceFromEnd(element: HTMLElement): number {
  return element.scrollHeight - element.scrollTop - element.clientHeight
}

/** Bring a row to the middle of the pane; of one that is taller than the pane, what is so far below its top. */
function centre(
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  element: HTMLElement,
  index: number,
  within: number | null,
): void {
  const row = virtualizer.getVirtualItems().find((item) => item.index === index)
  const isTall = row !== undefined && row.size > element.clientHeight
  if (isTall && within !== null) {
    const wanted = row.start + within - element.clientHeight / 2
    if (Math.abs(element.scrollTop - wanted) > NEAR) virtualizer.scrollToOffset(wanted)
    return
  }
  const wanted = virtualizer.getOffsetForIndex(index, 'center')?.[0]
  if (wanted === undefined || Math.abs(element.scrollTop - wanted) > NEAR)
    virtualizer.scrollToIndex(index, { align: 'center' })
}

type Rows = readonly [first: number, last: number]

/** The rows in sight. */
function rowsIn(element: HTMLElement, virtualizer: Virtualizer<HTMLDivElement, Element>): Rows {
  const top = element.scrollTop
  const first = virtualizer.getVirtualItemForOffset(top)?.index ?? 0
  return [first, virtualizer.getVirtualItemForOffset(top + element.clientHeight)?.index ?? first]
}

/** Whether whole panes pass by between two frames. Pixels do not tell: rows above that turn out taller move them too. */
function useRush() {
  const [isRushing, setRushing] = useState(false)
  const last = useRef<Rows>([0, 0])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const moved = (to: Rows, isByHand: boolean): void => {
    const isFar = isByHand && (to[0] > last.current[1] || to[1] < last.current[0])
    last.current = to
    if (!isFar && !isRushing) return
    setRushing(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setRushing(false), RUSH)
  }
  return { isRushing, moved }
}

/** How many of the messages that are shown stand after a position. */
function countAfter(position: number, positions: readonly number[] | null, length: number): number {
  if (positions === null) return length - position
  return positions.length - 1 - positions.findLastIndex((one) => one <= position)
}

/** The row of a position, or the first one after it. */
function indexOf(positions: readonly number[] | null, position: number): number {
  if (positions === null) return position - 1
  const found = positions.findIndex((one) => one >= position)
  return found === -1 ? positions.length - 1 : found
}

/** Read what is drawn, and a little more on both sides. */
function useReading(
  history: History,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  positions: readonly number[] | null,
): void {
  const last = useRef(0)
  const items = virtualizer.getVirtualItems()
  const from = items[0]?.index ?? 0
  const to = items.at(-1)?.index ?? 0
  useEffect(() => {
    const wait = Math.max(0, last.current + READ_EVERY - performance.now())
    const timer = setTimeout(() => {
      last.current = performance.now()
      history.need(
        positions === null
          ? [[from + 1 - AHEAD, to + 1 + AHEAD]]
          : positions.slice(from, to + 1).map((position) => [position, position] as const),
      )
    }, wait)
    return () => clearTimeout(timer)
  }, [history, positions, from, to])
}

/** Heights are known for one width only. */
function useMeasureAgainByWidth(
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  pane: RefObject<HTMLDivElement | null>,
): void {
  useEffect(() => {
    const element = pane.current
    if (element === null) return
    let width = element.clientWidth
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width) return
      width = element.clientWidth
      virtualizer.measure()
      virtualizer.getTotalSize() // forgets the old heights for good; else what seems unchanged would not be kept
      for (const row of virtualizer.elementsCache.values()) {
        virtualizer.resizeItem(virtualizer.indexFromElement(row), row.getBoundingClientRect().height)
      }
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [virtualizer, pane])
}
