// Finding by the beginnings of words, as the server finds runs, and showing what was found.

const WORD = /[\p{L}\p{N}]+/gu

export const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? []

/** Whether every wanted word begins a word of the text. */
export function isMatch(text: string, wanted: readonly string[]): boolean {
  const words = wordsOf(text)
  return wanted.every((prefix) => words.some((word) => word.startsWith(prefix)))
}

export type Piece = { at: number; text: string; isFound: boolean }

/** A text in pieces: what was looked for, and what is between. */
export function piecesOf(text: string, wanted: readonly string[]): Piece[] {
  const longestFirst = wanted.toSorted((one, other) => other.length - one.length)
  const pieces: Piece[] = []
  let end = 0
  for (const { index, 0: word } of text.matchAll(WORD)) {
    const prefix = longestFirst.find((one) => word.toLowerCase().startsWith(one))
    if (prefix === undefined) continue
    if (index > end) pieces.push({ at: end, text: text.slice(end, index), isFound: false })
    end = index + prefix.length
    pieces.push({ at: index, text: text.slice(index, end), isFound: true })
  }
  if (end < text.length) pieces.push({ at: end, text: text.slice(end), isFound: false })
  return pieces
}
