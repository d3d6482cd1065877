import { expect, test } from 'vitest'
import { nextOf } from './useFinding'

test('the next match is after here, and after the last comes the first', () => {
  expect(nextOf([3, 8, 9], 3, 1)).toBe(8)
  expect(nextOf([3, 8, 9], 9, 1)).toBe(3)
  expect(nextOf([3, 8, 9], 8, -1)).toBe(3)
  expect(nextOf([3, 8, 9], 2, -1)).toBe(9)
  expect(nextOf([], 2, 1)).toBeUndefined()
})
