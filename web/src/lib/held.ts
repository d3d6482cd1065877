import { type FocusEvent, useState } from 'react'

export type Shown<Row> = { row: Row; isGone: boolean }

/** Rows in the order in which they were when somebody began to point at them: newest data, but nothing changes place. */
export function arrange<Row extends { id: string }>(
  rows: readonly Row[],
  held: readonly Row[] | null,
): { shown: Shown<Row>[]; waiting: number } {
  if (held === null) return { shown: rows.map((row) => ({ row, isGone: false })), waiting: 0 }
  const now = new Map(rows.map((row) => [row.id, row]))
  const kept = new Set(held.map((row) => row.id))
  return {
    shown: held.map((row) => ({ row: now.get(row.id) ?? row, isGone: !now.has(row.id) })),
    waiting: rows.filter((row) => !kept.has(row.id)).length,
  }
}

/** A list that stays as it is while somebody points at it, so that nobody presses a row that just moved there. */
export function useHeld<Row extends { id: string }>(rows: readonly Row[]) {
  const [held, setHeld] = useState<readonly Row[] | null>(null)
  const hold = () => setHeld((before) => before ?? rows)
  return {
    ...arrange(rows, held),
    /** Take the new ones in, and hold them. */
    refresh: () => setHeld(rows),
    handlers: {
      onPointerEnter: hold,
      onFocus: hold,
      onPointerLeave: () => setHeld(null),
      onBlur: (event: FocusEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setHeld(null)
      },
    },
  }
}

/** A list that changes its places only when asked to: new rows wait, and those that left stay until then. */
export function useSteady<Row extends { id: string }>(rows: readonly Row[]) {
  const [held, setHeld] = useState<readonly Row[] | null>(null)
  const [forgotten, setForgotten] = useState<ReadonlySet<string>>(new Set())
  const now = new Set(rows.map((row) => row.id))
  // Nothing is left of what was shown, so nobody can be looking at a row of it.
  const isFree = held === null || !held.some((row) => now.has(row.id))
  if (isFree && held !== rows && (held === null || rows.length > 0 || held.length > 0)) setHeld(rows)
  const { shown, waiting } = arrange(rows, isFree ? rows : held)
  return {
    shown: shown.filter(({ row, isGone }) => !isGone || !forgotten.has(row.id)),
    waiting,
    refresh: () => setHeld(null),
    /** These leave because of what was just done to them, so that nobody is surprised when they do. */
    forget: (ids: readonly string[]) => setForgotten(new Set([...forgotten, ...ids])),
  }
}

export type Held<Row> = { pages: readonly (readonly Row[])[]; rows: readonly Row[] }

/** What stays in its place: everything that was shown, and below it what was loaded since. */
export function holdPages<Row extends { id: string }>(
  held: Held<Row> | null,
  pages: readonly (readonly Row[])[],
): Held<Row> {
  const now = new Set(pages.flat().map((row) => row.id))
  const isFree = held === null || !held.rows.some((row) => now.has(row.id))
  const rows = isFree ? pages.flat() : [...held.rows, ...pages.slice(held.pages.length).flat()]
  // Who pages while rows move may be given one twice.
  return { pages, rows: [...new Map(rows.toReversed().map((row) => [row.id, row])).values()].toReversed() }
}

/** The same for a list that is loaded page by page. */
export function useSteadyPages<Row>(
  pages: readonly { items: readonly Row[] }[] | undefined,
  idOf: (row: Row) => string,
) {
  const [held, setHeld] = useState<{ of: typeof pages; held: Held<{ id: string; row: Row }> | null }>()
  const named = (pages ?? []).map(({ items }) => items.map((row) => ({ id: idOf(row), row })))
  let now = held?.held ?? null
  if (held?.of !== pages || now === null) {
    now = holdPages(now, named)
    setHeld({ of: pages, held: now })
  }
  const { shown, waiting } = arrange(named.flat(), now.rows)
  return {
    shown: shown.map(({ row: { id, row }, isGone }) => ({ id, row, isGone })),
    waiting,
    left: shown.filter(({ isGone }) => isGone).length,
    refresh: () => setHeld(undefined),
  }
}
