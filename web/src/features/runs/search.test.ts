import { expect, test } from 'vitest'
import { isFiltered, readSearch, toldFilters, withFilter } from './search'

test('an address is read as far as its words are known', () => {
  expect(
    readSearch({ view: 'slow', status: 'done', health: 'stale', since: '1h', sort: 'active', colour: 'red' }),
  ).toEqual({ view: 'slow', health: 'stale', since: '1h' })
})

test('words of an object are no words of a vocabulary', () => {
  expect(readSearch({ status: 'constructor', view: 'toString', since: '__proto__' })).toEqual({})
})

test('people search for numbers, too', () => {
  expect(readSearch({ search: 404, agent: true, show: '  ' })).toEqual({ search: '404', agent: 'true' })
})

test('a moment is as good as a length of time', () => {
  expect(readSearch({ since: 1_700_000_000 })).toEqual({ since: 1_700_000_000 })
  expect(readSearch({ since: Number.NaN })).toEqual({})
})

test('filters are told in words, in one order', () => {
  expect(toldFilters({ since: '1h', health: 'stale', search: 'a\u202eb', sort: 'ended' })).toEqual([
    { label: 'Health', value: 'stale' },
    { label: 'Since', value: '1 hour' },
    { label: 'Words', value: 'a⟨RLO⟩b' },
  ])
})

test('the order of a list hides nothing', () => {
  expect(isFiltered({ sort: 'ended' })).toBe(false)
  expect(isFiltered({ sort: 'ended', agent: 'builder' })).toBe(true)
})

test('a filter without a value goes', () => {
  expect(withFilter({ agent: 'builder', kind: 'flow' }, 'agent', undefined)).toEqual({ kind: 'flow' })
  expect(withFilter({ agent: 'builder' }, 'kind', 'flow')).toEqual({ agent: 'builder', kind: 'flow' })
})
