import { useCallback, useMemo, useState } from 'react'

export type Selection = {
  ids: ReadonlySet<string>
  /** Take a row in or out; `isRange` does to all rows since the last one what is done to this one. */
  toggle: (id: string, isRange?: boolean) => void
  toggleAll: () => void
  clear: () => void
}

const NONE: ReadonlySet<string> = new Set()

/** Which of the loaded rows are chosen. Another list begins with none, and what is not in the list is not chosen. */
export function useSelection(order: readonly string[], of: unknown): Selection {
  const [chosen, setChosen] = useState({ of, ids: NONE, last: null as string | null })
  const loaded = useMemo(() => new Set(order), [order])
  const current = chosen.of === of ? chosen.ids : NONE
  const ids = useMemo(() => within(current, loaded), [current, loaded])

  const toggle = useCallback(
    (id: string, isRange = false) =>
      setChosen((before) => {
        const known = before.of === of ? before : { of, ids: NONE, last: null }
        const ids = within(known.ids, loaded)
        const isAdded = !ids.has(id)
        for (const one of isRange ? between(order, known.last ?? id, id) : [id]) {
          if (isAdded) ids.add(one)
          else ids.delete(one)
        }
        return { of, ids, last: id }
      }),
    [order, loaded, of],
  )
  const toggleAll = useCallback(
    () =>
      setChosen((before) => {
        const isAll = before.of === of && order.every((id) => before.ids.has(id))
        return { of, ids: isAll ? NONE : loaded, last: null }
      }),
    [order, loaded, of],
  )
  const clear = useCallback(() => setChosen({ of, ids: NONE, last: null }), [of])
  return { ids, toggle, toggleAll, clear }
}

const within = (ids: ReadonlySet<string>, loaded: ReadonlySet<string>): Set<string> =>
  new Set([...ids].filter((id) => loaded.has(id)))

/** The stretch of a list from one row to another, in whichever direction. */
export function between(order: readonly string[], one: string, other: string): readonly string[] {
  const [from, to] = [order.indexOf(one), order.indexOf(other)]
  if (from < 0 || to < 0) return [other]
  return order.slice(Math.min(from, to), Math.max(from, to) + 1)
}
