import { expect, test } from 'vitest'
import { formatBrief, formatDuration } from './time'

test.each([
  [0, '0s'],
  [8.4, '8s'],
  [60, '1m'],
  [192, '3m 12s'],
  [47 * 60 + 5, '47m'],
  [3600, '1h'],
  [9 * 3600 + 14 * 60, '9h 14m'],
  [47 * 3600, '47h'],
  [50 * 3600, '2d'],
  [-5, '0s'],
])('%d seconds read as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

test('where space is short one unit is enough', () => {
  expect(formatBrief(192)).toBe('3m')
})
