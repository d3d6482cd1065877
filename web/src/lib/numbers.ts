// Counts and sizes as people read them: 12,806; 847.3 MB; 1.94 M.

const counts = new Intl.NumberFormat('en-GB')
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

export const formatCount = (count: number): string => counts.format(count)

/** A number and its noun: 1 run, 2 runs. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** Tokens: exact while they are few. */
export function formatTokens(count: number): string {
  if (count < 10_000) return formatCount(count)
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} k`
  return `${(count / 1_000_000).toFixed(2)} M`
}

export function formatBytes(bytes: number): string {
  let unit = 0
  let left = bytes
  while (left >= 1000 && unit < UNITS.length - 1) {
    left /= 1000
    unit += 1
  }
  return `${unit === 0 ? left : left.toFixed(1)} ${UNITS[unit]}`
}

export const formatCost = (usd: number): string => `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`

/** The first characters of an id, as lists show it. */
export const shortId = (id: string): string => id.slice(0, 8)
