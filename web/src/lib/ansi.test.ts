import { expect, test } from 'vitest'
import { readAnsi, stripAnsi } from './ansi'

const plain = { tint: null, isStrong: false }

test('colours become tones, and words stay words', () => {
  expect(readAnsi('\u001b[31mFAILED\u001b[0m a \u001b[1;32mok\u001b[39m b')).toEqual([
    { text: 'FAILED', tint: 'danger', isStrong: false },
    { text: ' a ', ...plain },
    { text: 'ok', tint: 'success', isStrong: true },
    { text: ' b', tint: null, isStrong: true },
  ])
})

test('a colour of a larger palette does not eat the words after it', () => {
  expect(readAnsi('\u001b[38;5;196mred\u001b[38;2;1;2;3mtoo')).toEqual([{ text: 'redtoo', ...plain }])
})

test.each([
  ['\u001b[2J\u001b[H', ''],
  ['\u001b]0;a title\u0007shown', 'shown'],
  ['\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u001b[?25lhidden cursor\u001b[?25h', 'hidden cursor'],
  ['\u001bMup', 'up'],
  ['no escape', 'no escape'],
])('%j orders the terminal about, not the page', (text, words) => {
  expect(stripAnsi(text)).toBe(words)
  expect(
    readAnsi(text)
      .map((run) => run.text)
      .join(''),
  ).toBe(words)
})
