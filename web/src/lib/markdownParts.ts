// A long text in pieces that can be drawn one after the other, so that none of them holds up the page.

const PIECE = 4_000 // characters

const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** The text cut between its blocks, never inside of a fence, a list or a table. Put together, it is the text. */
export function splitMarkdown(text: string, size = PIECE): string[] {
  if (text.length <= size) return [text]
  const pieces: string[] = []
  let lines: string[] = []
  let length = 0
  let fence: string | null = null
  let isBlank = false
  for (const line of text.split('\n')) {
    const marks = FENCE.exec(line)?.[1]
    // After a blank line, at its left edge and not a list, a block begins that needs nothing from before.
    const isBeginning = isBlank && fence === null && /^[^\s\-*+\d>|]/.test(line)
    if (length >= size && isBeginning) {
      pieces.push(`${lines.join('\n')}\n`)
      lines = []
      length = 0
    }
    if (marks !== undefined) {
      if (fence === null) fence = marks
      else if (marks.startsWith(fence)) fence = null
    }
    lines.push(line)
    length += line.length + 1
    isBlank = line.trim() === ''
  }
  pieces.push(lines.join('\n'))
  return pieces
}
