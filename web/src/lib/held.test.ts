import { expect, test } from 'vitest'
import { arrange } from './held'

const row = (id: string, text = id) => ({ id, text })

test('nobody points: the newest is shown as it comes', () => {
  expect(arrange([row('b'), row('a')], null)).toEqual({
    shown: [
      { row: row('b'), isGone: false },
      { row: row('a'), isGone: false },
    ],
    waiting: 0,
  })
})

test('while somebody points, rows keep their places, take new words, and the new ones wait', () => {
  const held = [row('a'), row('b')]
  expect(arrange([row('c'), row('b', 'changed')], held)).toEqual({
    shown: [
      { row: row('a'), isGone: true },
      { row: row('b', 'changed'), isGone: false },
    ],
    waiting: 1,
  })
})
