// @vitest-environment jsdom

import { act, renderHook } from '@testing-library/react'
import { expect, test } from 'vitest'
import { between, useSelection } from './useSelection'

const ORDER = ['a', 'b', 'c', 'd', 'e']

test('a range goes in both directions, and only over what is loaded', () => {
  expect(between(ORDER, 'b', 'd')).toEqual(['b', 'c', 'd'])
  expect(between(ORDER, 'd', 'b')).toEqual(['b', 'c', 'd'])
  expect(between(ORDER, 'gone', 'b')).toEqual(['b'])
})

test('a range does to all what is done to the last', () => {
  const { result } = renderHook(() => useSelection(ORDER, 'list'))
  act(() => result.current.toggle('b'))
  act(() => result.current.toggle('d', true))
  expect([...result.current.ids]).toEqual(['b', 'c', 'd'])
  act(() => result.current.toggle('c', true))
  expect([...result.current.ids]).toEqual(['b'])
})

test('all loaded rows are chosen, then none', () => {
  const { result } = renderHook(() => useSelection(ORDER, 'list'))
  act(() => result.current.toggleAll())
  expect(result.current.ids.size).toBe(5)
  act(() => result.current.toggleAll())
  expect(result.current.ids.size).toBe(0)
})

test('another list begins with none', () => {
  const { result, rerender } = renderHook(({ of }) => useSelection(ORDER, of), {
    initialProps: { of: 'one' },
  })
  act(() => result.current.toggle('a'))
  rerender({ of: 'other' })
  expect(result.current.ids.size).toBe(0)
})

test('a row that is not in the list any more is not chosen, also when it comes back', () => {
  const { result, rerender } = renderHook(({ order }) => useSelection(order, 'list'), {
    initialProps: { order: ORDER },
  })
  act(() => result.current.toggleAll())
  rerender({ order: ['a', 'b', 'x'] })
  expect([...result.current.ids]).toEqual(['a', 'b'])
  act(() => result.current.toggle('a'))
  expect([...result.current.ids]).toEqual(['b'])
  rerender({ order: ORDER })
  expect([...result.current.ids]).toEqual(['b'])
  act(() => result.current.toggleAll())
  expect(result.current.ids.size).toBe(5)
})
