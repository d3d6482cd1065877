import { expect, test } from 'vitest'
import { splitMarkdown } from './markdownParts'

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
