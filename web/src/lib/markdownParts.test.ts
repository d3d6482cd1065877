import { expect, test } from 'vitest'
import { isHard, partsOf, splitMarkdown } from './markdownParts'

test('a short text is one piece', () => {
  expect(splitMarkdown('# One\n\ntwo')).toEqual(['# One\n\ntwo'])
})

test('pieces end between blocks and make up the text again', () => {
  const text = Array.from({ length: 40 }, (_, number) => `Paragraph ${number} says something.`).join('\n\n')
  const pieces = splitMarkdown(text, 100)
  expect(pieces.length).toBeGreaterThan(5)
  expect(pieces.join('')).toBe(text)
  for (const piece of pieces) expect(piece).toMatch(/^Paragraph/)
})

test('code is never cut in two', () => {
  const code = `\`\`\`python\n${'a = 1\n\nb = 2\n'.repeat(50)}\`\`\``
  const pieces = splitMarkdown(`Before.\n\n${code}\n\nAfter.`, 50)
  expect(pieces.find((piece) => piece.includes('```python'))).toContain(code)
})

test('a list that goes on after a blank line stays whole', () => {
  const list = Array.from({ length: 30 }, (_, number) => `${number + 1}. item\n\n   more of it`).join('\n\n')
  expect(splitMarkdown(list, 60)).toEqual([list])
})

const HARD = {
  'quotes in each other': '>'.repeat(1_500),
  'lists in each other, on one line': '- '.repeat(200),
  'lists in each other': Array.from({ length: 190 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n'),
  'a long line': 'x'.repeat(5_001),
  'lines that go on with a deep quote': `${'> '.repeat(10)}a\n${'b\n'.repeat(1_000)}`,
  'marks that may belong together': '*a_'.repeat(800),
  'a table of many cells': `${'|a'.repeat(500)}\n${'|-'.repeat(500)}\n${`${'|a'.repeat(500)}\n`.repeat(18)}`,
  'many lines without an end': '# a\n'.repeat(2_500),
  'what only looks like code': `\`\`\`a\`\n${'>'.repeat(100)}`,
}

test.each(Object.entries(HARD))('%s: it would take too long to be read as markdown', (_, text) => {
  expect(isHard(text)).toBe(true)
})

const DEEP_CODE = `\`\`\`yaml\n${' '.repeat(60)}- deep: 1\n${'> '.repeat(30)}\n\`\`\``

test('what people write is read as markdown', () => {
  const list = Array.from(
    { length: 300 },
    (_, number) => `${' '.repeat((number % 5) * 2)}- item **${number}**`,
  )
  const table = Array.from({ length: 100 }, (_, row) => `| ${row} | \`code\` | **bold** | [a](b) |`)
  for (const text of [list.join('\n'), table.join('\n'), DEEP_CODE, '> > > deep\n\nand on'])
    expect(isHard(text)).toBe(false)
})

test('only the piece that is hard is shown as it is', () => {
  const easy = `${'A paragraph. '.repeat(320)}\n\n`.repeat(2)
  const parts = partsOf(`${easy}Then:\n${'>'.repeat(300)}`)
  expect(parts.map((part) => part.isPlain)).toEqual([false, false, true])
})
