// A long text in pieces that can be drawn one after the other, so that none of them holds up the page; and which of them
// are better shown as they are, because reading them as markdown would take seconds or end in an error.

const PIECE = 2_000 // characters
const LONGEST_TEXT = 200_000

// Reading takes the square of these, or worse. No text that is meant to be read has so many.
const LONGEST_LINE = 5_000
const DEEPEST = 12 // quotes and lists in each other
const WIDEST_INDENT = 40 // spaces before the mark of a list, which is a list in twenty others
const MOST_LINES = 2_000
const MOST_NESTED = 4_000 // lines, each counted as often as it is deep
const MOST_MARKS = 1_200 // of emphasis, links and code in one paragraph
const MOST_CELLS = 3_000 // in one table

const OPENING = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const CLOSING = /^ {0,3}(`{3,}|~{3,})\s*$/

/** The fence that is open after a line, if any. */
function fenceAfter(fence: string | null, line: string): string | null {
  if (fence === null) return OPENING.exec(line)?.[1] ?? null
  return CLOSING.exec(line)?.[1]?.startsWith(fence) ? null : fence
}

/** The text cut between its blocks, never inside of a fence, a list or a table. Put together, it is the text. */
export function splitMarkdown(text: string, size = PIECE): string[] {
  if (text.length <= size) return [text]
  const pieces: string[] = []
  let lines: string[] = []
  let length = 0
  let fence: string | null = null
  let isBlank = false
  for (const line of text.split('\n')) {
    // After a blank line, at its left edge and not a list, a block begins that needs nothing from before.
    const isBeginning = isBlank && fence === null && /^[^\s\-*+\d>|]/.test(line)
    if (length >= size && isBeginning) {
      pieces.push(`${lines.join('\n')}\n`)
      lines = []
      length = 0
    }
    fence = fenceAfter(fence, line)
    lines.push(line)
    length += line.length + 1
    isBlank = line.trim() === ''
  }
  pieces.push(lines.join('\n'))
  return pieces
}

const CONTAINERS = /^(?:\s{0,4}(?:>|[-*+](?=\s|$)|\d{1,9}[.)](?=\s|$)))+/
const INDENT = /^\s*/
const ONE_CONTAINER = /[>\-*+]|\d+[.)]/g
const MARKS = /[*_~[\]`!<&\\]/g

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

/** Whether a piece would take too long to be read as markdown, by what makes it slow. */
export function isHard(piece: string): boolean {
  let fence: string | null = null
  let lines = 0
  let depth = 0 // of the line, or of the one that it goes on with
  let nested = 0
  let marks = 0 // since the last blank line
  let cells = 0
  for (const line of piece.split('\n')) {
    if (line.length > LONGEST_LINE) return true
    const wasFenced = fence !== null
    fence = fenceAfter(fence, line)
    if (wasFenced) continue
    const indent = INDENT.exec(line)?.[0].length ?? 0
    if (indent === line.length) {
      depth = marks = cells = 0
      continue
    }
    const containers = CONTAINERS.exec(line.slice(indent))?.[0] ?? ''
    const own = count(containers, ONE_CONTAINER)
    if (own > DEEPEST || (own > 0 && indent > WIDEST_INDENT)) return true
    if (own > 0) depth = own + indent / 2
    if (/[-*+]$/.test(containers)) marks = 0 // the next item of a list
    lines += 1
    nested += depth
    marks += count(line, MARKS)
    cells += count(line, /\|/g)
    if (lines > MOST_LINES || nested > MOST_NESTED || marks > MOST_MARKS || cells > MOST_CELLS) return true
  }
  return false
}

export type Part = { text: string; isPlain: boolean }

/** The pieces of a text, and which of them are shown as they are. */
export function partsOf(text: string): Part[] {
  if (text.length > LONGEST_TEXT) return [{ text, isPlain: true }]
  return splitMarkdown(text).map((piece) => ({ text: piece, isPlain: isHard(piece) }))
}
