import { useCallback, useState, useSyncExternalStore } from 'react'

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
const WIDE = '(min-width: 1280px)' // beside the whole sidebar all columns of the beginning have room
const SMALL = '(max-width: 599px)'
// What a narrow window has no room for, whatever was chosen for a wide one.
const ONLY_WIDE: readonly OptionalColumn[] = ['kind', 'size', 'tokens', 'cost']
const NEVER_SMALL: readonly OptionalColumn[] = [...ONLY_WIDE, 'activity', 'updated']

/** Which columns are shown, as this browser remembers it, and which of them have room. */
export function useColumns() {
  const [chosen, setChosen] = useState(() => readColumns(localStorage.getItem(PLACE)))
  const isWide = useMedia(WIDE)
  const isSmall = useMedia(SMALL)
  const change = (column: OptionalColumn, isShown: boolean): void => {
    const next = { ...chosen, [column]: isShown }
    localStorage.setItem(PLACE, JSON.stringify(next))
    setChosen(next)
  }
  const shown = isWide ? chosen : without(isSmall ? NEVER_SMALL : ONLY_WIDE, chosen)
  return { chosen, shown, change, isWide }
}

function useMedia(query: string): boolean {
  const watch = useCallback(
    (tell: () => void) => {
      const media = matchMedia(query)
      media.addEventListener('change', tell)
      return () => media.removeEventListener('change', tell)
    },
    [query],
  )
  return useSyncExternalStore(watch, () => matchMedia(query).matches)
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

export const withoutWide = (columns: Columns): Columns => without(ONLY_WIDE, columns)

function without(names: readonly OptionalColumn[], columns: Columns): Columns {
  return { ...columns, ...Object.fromEntries(names.map((name) => [name, false])) }
}
