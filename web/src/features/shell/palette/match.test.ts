import { expect, test } from 'vitest'
import { isMatch, piecesOf, wordsOf } from './match'

test('things are found by the beginnings of their words, in any order', () => {
  expect(isMatch('ledger-postgres-cutover', wordsOf('Cut led'))).toBe(true)
  expect(isMatch('ledger-postgres-cutover', wordsOf('edger'))).toBe(false)
  expect(isMatch('Prüfung der Löschung', wordsOf('lösch'))).toBe(true)
  expect(isMatch('anything', wordsOf('!!'))).toBe(true)
})

test('what was found is marked, and nothing is lost', () => {
  expect(piecesOf('ledger-ledge', ['ledg'])).toEqual([
    { at: 0, text: 'ledg', isFound: true },
    { at: 4, text: 'er-', isFound: false },
    { at: 7, text: 'ledg', isFound: true },
    { at: 11, text: 'e', isFound: false },
  ])
  const text = '<b>İstanbul</b> & "x"'
  expect(
    piecesOf(text, ['b', 'x'])
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text)
})
