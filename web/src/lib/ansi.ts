// Colours of a terminal, as tones that a page has. Whatever else a program told its terminal to do is left out.

export type Tint = 'danger' | 'success' | 'warning' | 'info' | 'review' | 'dim'
export type Run = { text: string; tint: Tint | null; isStrong: boolean }

// A colour (CSI … m), any other order to the terminal (CSI, OSC, two characters), and a bell.
const ORDERS = new RegExp(
  [
    '\u001b\\[([0-9;:]*)m',
    '\u001b\\[[0-?]*[ -/]*[@-~]',
    '\u001b\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?',
    '\u001b[@-Z\\\\-_]',
    '\u0007',
  ].join('|'),
  'g',
)
const ESCAPE = '\u001b'

const TINTS: readonly (Tint | null)[] = [null, 'danger', 'success', 'warning', 'info', 'review', 'info', null]

type Look = { tint: Tint | null; isStrong: boolean }
const PLAIN: Look = { tint: null, isStrong: false }

function follow(codes: string, look: Look): Look {
  const numbers = codes === '' ? [0] : codes.split(/[;:]/).map(Number)
  let next = look
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0
    if (code === 0) next = PLAIN
    else if (code === 1) next = { ...next, isStrong: true }
    else if (code === 2) next = { ...next, tint: 'dim' }
    else if (code === 22) next = { ...next, isStrong: false }
    else if (code >= 30 && code <= 37) next = { ...next, tint: TINTS[code - 30] ?? null }
    else if (code === 90) next = { ...next, tint: 'dim' }
    else if (code > 90 && code <= 97) next = { ...next, tint: TINTS[code - 90] ?? null }
    else if (code === 39) next = { ...next, tint: null }
    // A colour of a larger palette takes the numbers after it; it has no tone here.
    else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4
  }
  return next
}

/** A text of a terminal in pieces of one look each. Nothing of an escape is left in them. */
export function readAnsi(text: string): Run[] {
  if (!text.includes(ESCAPE)) return text === '' ? [] : [{ text, ...PLAIN }]
  const found: Run[] = []
  let look = PLAIN
  let from = 0
  const add = (piece: string): void => {
    if (piece === '') return
    const last = found.at(-1)
    if (last !== undefined && last.tint === look.tint && last.isStrong === look.isStrong) last.text += piece
    else found.push({ text: piece, ...look })
  }
  for (const order of text.matchAll(ORDERS)) {
    add(text.slice(from, order.index))
    from = order.index + order[0].length
    if (order[1] !== undefined) look = follow(order[1], look)
  }
  add(text.slice(from))
  return found
}

/** The words alone. */
export const stripAnsi = (text: string): string => (text.includes(ESCAPE) ? text.replace(ORDERS, '') : text)
