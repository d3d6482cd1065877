import { expect, test } from 'vitest'
import { Visits } from './visits'

test('another entry of the history is another visit, and the way back leads to the one that was', () => {
  const visits = new Visits()
  const [list, run] = [visits.nameOf('list'), visits.nameOf('run')]
  expect(run).not.toBe(list)
  expect(visits.nameOf('list')).toBe(list)
})

test('who opens what is open already visits it anew', () => {
  const visits = new Visits()
  const first = visits.nameOf('list')
  const second = visits.nameOf('list')
  expect(second).not.toBe(first)
  visits.nameOf('run')
  expect(visits.nameOf('list')).toBe(second)
})
