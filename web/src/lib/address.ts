/** A text that an address holds. The router reads 404 as a number and true as a truth, but people search for them. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim() || undefined
    : undefined
