import { expect, test } from 'vitest'
import { countOf, formatBytes, formatCost, formatTokens } from './numbers'

test('sizes, tokens and money read as people write them', () => {
  expect(formatBytes(512)).toBe('512 B')
  expect(formatBytes(847_300_000)).toBe('847.3 MB')
  expect(formatTokens(9_999)).toBe('9,999')
  expect(formatTokens(1_940_000)).toBe('1.94 M')
  expect(formatCost(4.18)).toBe('$4.18')
  expect(formatCost(0.0012)).toBe('$0.0012')
})

test('a number has its noun', () => {
  expect(countOf(1, 'run')).toBe('1 run')
  expect(countOf(12_806, 'run')).toBe('12,806 runs')
})
