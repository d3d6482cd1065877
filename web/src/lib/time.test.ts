import { expect, test } from 'vitest'
import {
  dateOf,
  formatBetween,
  formatBrief,
  formatClock,
  formatDuration,
  formatExact,
  formatMoment,
  formatRough,
  formatSpan,
  formatWhole,
} from './time'

test.each([
  [0, '0s'],
  [8.4, '8s'],
  [8.9, '8s'],
  [9 * 3600 - 1, '8h 59m'],
  [1_790_000_060.1 - 1_790_000_000.1, '1m'],
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

test.each([
  [45, '45s'],
  [90, '1m 30s'],
  [150, '2m'],
  [80 * 60, '1h 20m'],
  [9 * 3600 + 14 * 60, '9h'],
  [50 * 3600, '2d'],
])('%d seconds are roughly %s', (seconds, text) => {
  expect(formatRough(seconds)).toBe(text)
})

test('a span says its day unless that is today', () => {
  const at = (day: number, hour: number): number => new Date(2026, 4, day, hour, 5, 9).getTime() / 1000
  expect(formatSpan(at(21, 9), at(21, 10), at(21, 20))).toBe('09:05:09 – 10:05:09')
  expect(formatSpan(at(20, 9), at(20, 10), at(21, 20))).toBe('20 May, 09:05 – 10:05')
  expect(formatSpan(at(19, 9), at(20, 10), at(21, 20))).toBe('19 May, 09:05 – 20 May, 10:05')
  expect(formatSpan(at(19, 9), null, at(21, 20))).toBe('19 May, 09:05 – now')
  expect(formatSpan(at(21, 9), null, at(21, 20))).toBe('09:05:09 – now')
})

test('in a column a span is two times, and two days where it has more than one', () => {
  const at = (day: number, hour: number): number => new Date(2026, 4, day, hour, 5, 9).getTime() / 1000
  const told = (from: number, to: number): string => formatBetween(from, to, at(21, 20))
  expect(told(at(21, 9), at(21, 10))).toBe('09:05 – 10:05')
  expect(told(at(20, 9), at(20, 10))).toBe('20 May 09:05 – 10:05')
  expect(told(at(19, 9), at(20, 10))).toBe('19 May – 20 May')
  expect(told(at(2, 9), at(2, 10))).toBe('2 May')
})

test('a moment of the last days has its time, and an older one its day and its year unless that is this one', () => {
  const at = (year: number, day: number): number => new Date(year, 4, day, 9, 5, 9).getTime() / 1000
  const now = at(2026, 21)
  const told = [at(2026, 21), at(2026, 20), at(2026, 15), at(2026, 14), at(2025, 21)]
  expect(told.map((one) => formatMoment(one, now))).toEqual([
    '09:05',
    '20 May 09:05',
    '15 May 09:05',
    '14 May',
    '21 May 2025',
  ])
  expect(formatExact(at(2026, 21), at(2026, 21))).toBe('09:05:09')
  expect(formatExact(at(2026, 20), at(2026, 21))).toBe('20 May, 09:05:09')
})

test.each([-9e12, 9e12, 1e300, Number.NaN, Number.NEGATIVE_INFINITY])('a time of %d breaks nothing', (at) => {
  expect(dateOf(at).toISOString()).toMatch(/Z$/)
  for (const format of [formatClock, formatWhole]) expect(format(at)).not.toBe('')
  expect(formatMoment(at, 1_790_000_000)).not.toBe('')
})
