import { useState, useSyncExternalStore } from 'react'

export const OPTIONAL_COLUMNS = {
  kind: 'Kind',
  activity: 'Activity',
  size: 'Size',
  tokens: 'Tokens',
  cost: 'Cost',
  updated: 'Updated',
} as const
export type OptionalColumn = keyof typeof OPTIONAL_COLUMNS
export type Columns = Record<OptionalColumn, boolean>

const PLACE = 'runs.columns'
const DEFAULTS: Columns = {
  kind: true,
  activity: true,
  size: true,
  tokens: false,
  cost: false,
  updated: true,
}
const WIDE = '(min-width: 1001px)'
// What a narrow window has no room for, whatever was chosen for a wide one.
const ONLY_WIDE: readonly OptionalColumn[] = ['kind', 'size', 'tokens', 'cost']

/** Which columns are shown, as this browser remembers it, and which of them have room. */
export function useColumns() {
  const [chosen, setChosen] = useState(() => readColumns(localStorage.getItem(PLACE)))
  const isWide = useSyncExternalStore(watchWidth, () => matchMedia(WIDE).matches)
  const change = (column: OptionalColumn, isShown: boolean): void => {
    const next = { ...chosen, [column]: isShown }
    localStorage.setItem(PLACE, JSON.stringify(next))
    setChosen(next)
  }
  return { chosen, shown: isWide ? chosen : withoutWide(chosen), change, isWide }
}

function watchWidth(tell: () => void): () => void {
  const media = matchMedia(WIDE)
  media.addEventListener('change', tell)
  return () => media.removeEventListener('change', tell)
}

/** What was kept, as far as it can still be read. */
export function readColumns(kept: string | null): Columns {
  const columns = { ...DEFAULTS }
  let read: unknown
  try {
    read = JSON.parse(kept ?? 'null')
  } catch {
    return columns
  }
  if (typeof read !== 'object' || read === null) return columns
  for (const [name, isShown] of Object.entries(read)) {
    if (name in columns && typeof isShown === 'boolean') columns[name as OptionalColumn] = isShown
  }
  return columns
}

export function withoutWide(columns: Columns): Columns {
  return { ...columns, ...Object.fromEntries(ONLY_WIDE.map((name) => [name, false])) }
}
