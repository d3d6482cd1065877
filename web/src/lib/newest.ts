import { useState } from 'react'

/** Rows above the one that was on top wait; everything below it is shown, also what was loaded since. */
export function splitNewest<Row>(
  rows: readonly Row[],
  top: string | null,
  idOf: (row: Row) => string,
): { shown: readonly Row[]; waiting: number } {
  const at = top === null ? 0 : rows.findIndex((row) => idOf(row) === top)
  const waiting = Math.max(0, at) // the one on top is gone: nothing to hold on to
  return { shown: rows.slice(waiting), waiting }
}

/** A list of the newest first that never moves what is read: new rows wait until they are asked for. */
export function useNewest<Row>(rows: readonly Row[], idOf: (row: Row) => string) {
  const [top, setTop] = useState<string | null>(null)
  const [first] = rows
  if (top === null && first !== undefined) setTop(idOf(first))
  return {
    ...splitNewest(rows, top, idOf),
    /** Let the new ones in. */
    refresh: () => setTop(first === undefined ? null : idOf(first)),
  }
}
