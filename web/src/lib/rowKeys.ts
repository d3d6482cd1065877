// J and K, or the arrows, move the focus from row to row. Enter does what the link or button of the row does.

import { type RefObject, useRef } from 'react'
import { useKeys } from './keys'

const STOPS = '[data-stop]'

/** The element whose rows are moved through; the link or button of each row has `data-stop`. */
export function useRowKeys<Element extends HTMLElement>(): RefObject<Element | null> {
  const place = useRef<Element>(null)
  const move = (by: 1 | -1) => () => {
    const stops = [...(place.current?.querySelectorAll<HTMLElement>(STOPS) ?? [])]
    const focused = document.activeElement
    const at = focused instanceof HTMLElement ? stops.indexOf(focused) : -1
    const next = at === -1 ? (by === 1 ? 0 : stops.length - 1) : at + by
    stops[Math.min(Math.max(next, 0), stops.length - 1)]?.focus()
  }
  useKeys({
    j: { does: 'Next row', act: move(1) },
    k: { does: 'Previous row', act: move(-1) },
    ArrowDown: move(1),
    ArrowUp: move(-1),
  })
  return place
}
