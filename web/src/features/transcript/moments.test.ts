import { expect, test } from 'vitest'
import { firstSince, isTime, momentOf } from './moments'

const at = (day: number, hours: number, minutes: number, seconds = 0): number =>
  new Date(2026, 4, day, hours, minutes, seconds).getTime() / 1000

test.each([
  ['14:03', at(20, 14, 3)],
  ['01:46', at(21, 1, 46)], // had passed when it began: that of the next day
  ['1:46', at(21, 1, 46)],
  ['9:30', at(20, 9, 30)], // the minute in which it began
  ['09:30:10', at(21, 9, 30, 10)],
  ['25:00', null],
  ['14:0', null],
  ['at 14:03', null],
])('%s is a moment of the run', (words, moment) => {
  expect(momentOf(words, at(20, 9, 30, 20))).toBe(moment)
  expect(isTime(words)).toBe(moment !== null)
})

test('the first message since a moment is found with few looks', async () => {
  const times = Array.from({ length: 1000 }, (_, index) => index * 10)
  let looks = 0
  const timeAt = async (position: number): Promise<number> => {
    looks += 1
    return times[position - 1] ?? Number.NaN
  }
  expect(await firstSince(0, 1000, timeAt)).toBe(1)
  expect(await firstSince(4321, 1000, timeAt)).toBe(434)
  expect(await firstSince(9990, 1000, timeAt)).toBe(1000)
  expect(await firstSince(9991, 1000, timeAt)).toBeNull()
  expect(looks).toBeLessThanOrEqual(44)
})
