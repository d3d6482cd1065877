import { expect, test } from 'vitest'
import { stack } from './stack'

test('each series stands upon those before it, and the highest is drawn first', () => {
  const [times, ...heights] = stack([10, 20], [{ values: [3, 0] }, { values: [1, 2] }])
  expect(times).toEqual([10, 20])
  expect(heights).toEqual([
    [4, 2],
    [3, 0],
  ])
})

test('nothing to stack is no series', () => {
  expect(stack([10], [])).toEqual([[10]])
})
