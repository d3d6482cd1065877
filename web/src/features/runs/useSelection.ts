import { useCallback, useState } from 'react'

export type Selection = {
  ids: ReadonlySet<string>
  /** Take a row in or out; `isRange` does to all rows since the last one what is done to this one. */
  toggle: (id: string, isRange?: boolean) => void
  toggleAll: () => void
  clear: () => void
}

const NONE: ReadonlySet<string> = new Set()

/** Which of the loaded rows are chosen. Another list begins with none. */
export function useSelection(order: readonly string[], of: unknown): Selection {
  const [chosen, setChosen] = useState({ of, ids: NONE, last: null as string | null })
  const current = chosen.of === of ? chosen : { of, ids: NONE, last: null }

  const toggle = useCallback(
    (id: string, isRange = false) =>
      setChosen((before) => {
        const known = before.of === of ? before : { of, ids: NONE, last: null }
        const ids = new Set(known.ids)
        const isAdded = !ids.has(id)
        for (const one of isRange ? between(order, known.last ?? id, id) : [id]) {
          if (isAdded) ids.add(one)
          else ids.delete(one)
        }
        return { of, ids, last: id }
      }),
    [order, of],
  )
  const toggleAll = useCallback(
    () =>
      setChosen((before) => {
        const isAll = before.of === of && before.ids.size >= order.length
        return { of, ids: isAll ? NONE : new Set(order), last: null }
      }),
    [order, of],
  )
  const clear = useCallback(() => setChosen({ of, ids: NONE, last: null }), [of])
  return { ids: current.ids, toggle, toggleAll, clear }
}

/** The stretch of a list from one row to another, in whichever direction. */
export function between(order: readonly string[], one: string, other: string): readonly string[] {
  const [from, to] = [order.indexOf(one), order.indexOf(other)]
  if (from < 0 || to < 0) return [other]
  return order.slice(Math.min(from, to), Math.max(from, to) + 1)
}
