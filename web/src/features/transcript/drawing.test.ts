import { expect, test } from 'vitest'
import { drawMore, keepDrawn } from './drawing'

const rows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ({ index: from + at }))
const sizeOf = () => 100
const sorted = (drawn: ReadonlySet<number>) => [...drawn].toSorted((one, other) => one - other)

test('what is in sight is drawn, what was drawn stays, and what left the list is forgotten', () => {
  expect(sorted(keepDrawn(rows(0, 20), new Set([7, 8, 50]), [8, 12]))).toEqual([7, 8, 9, 10, 11, 12])
})

test('the nearest rows follow, as many as a frame has time for', () => {
  const drawn = drawMore(rows(0, 6), new Set([2, 3, 4]), [2, 4], sizeOf, 250)
  expect(sorted(drawn)).toEqual([1, 2, 3, 4, 5])
  expect(sorted(drawMore(rows(0, 6), drawn, [2, 4], sizeOf, 250))).toEqual([0, 1, 2, 3, 4, 5, 6])
})

test('one that is larger than a frame is drawn all the same, in a frame of its own', () => {
  expect(sorted(drawMore(rows(0, 3), new Set([0]), [0, 0], () => 9_000, 300))).toEqual([0, 1])
})
