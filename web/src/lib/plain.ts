// What agents and files say is text, never an instruction to the page. React keeps markup from running; this keeps
// characters from lying: an override of the direction can make `exe.fdp` read as `pdf.exe`, and an escape is invisible.

// Characters that turn, hide or move what stands beside them, by the names that Unicode gives them.
const NAMES: Record<string, string> = {
  '\u00ad': 'SHY',
  '\u061c': 'ALM',
  '\u180e': 'MVS',
  '\u200b': 'ZWSP',
  '\u200e': 'LRM',
  '\u200f': 'RLM',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u2060': 'WJ',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\ufeff': 'BOM',
}
// Whole lines can be written in tags, which repeat the letters of a keyboard and are never drawn.
const TAGS = 0xe0000
const LETTERS = { first: 0x20, last: 0x7e }

const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
const SPACES = /[\s\u2028\u2029]+/g

// Unicode has a picture for each of these, but few fonts draw them.
const CONTROLS =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  )
const DELETE = 0x7f

function mark(character: string): string {
  const name = NAMES[character]
  if (name !== undefined) return `⟨${name}⟩`
  const code = character.codePointAt(0) ?? 0
  const control = code === DELETE ? 'DEL' : CONTROLS[code]
  if (control !== undefined) return `⟨${control}⟩`
  const tag = code - TAGS
  if (tag >= LETTERS.first && tag <= LETTERS.last) return `⟨TAG ${String.fromCharCode(tag)}⟩`
  return `⟨${code.toString(16).toUpperCase()}⟩`
}

/** A text of several lines as it is, with a visible mark for every character that cannot be seen but does something. */
export function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, mark)
}

/** The same for a place of one line: a name, an id, a cell. */
export function plainLine(text: string): string {
  return plainText(text.replace(SPACES, ' ').trim())
}
