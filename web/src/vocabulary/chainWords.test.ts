import { expect, test } from 'vitest'
import { wordsInRow } from './chainWords'

test('a row does not say in its state what it has columns for', () => {
  expect(wordsInRow(['Completed', '3m 30s', '4 messages'])).toEqual(['Completed'])
  expect(wordsInRow(['Running', 'process alive', '12,806 messages'])).toEqual(['Running', 'process alive'])
})

test('what went wrong stays, also where it is a count or a length', () => {
  const words = ['Timed out', 'deadline 60m', 'quiet 9h', '3 tool errors', '2 messages lost']
  expect(wordsInRow(words)).toEqual(words)
})
