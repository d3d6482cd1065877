// @vitest-environment jsdom

import { act, renderHook } from '@testing-library/react'
import { expect, test } from 'vitest'
import { splitNewest, useNewest } from './newest'

const same = (row: string) => row

test('what came above the row on top waits, what was loaded below is shown', () => {
  expect(splitNewest(['e', 'd', 'c', 'b', 'a'], 'c', same)).toEqual({ shown: ['c', 'b', 'a'], waiting: 2 })
})

test('when the row on top is gone, everything is shown', () => {
  expect(splitNewest(['e', 'd'], 'c', same)).toEqual({ shown: ['e', 'd'], waiting: 0 })
})

test('new rows enter when they are asked for, not before', () => {
  const { result, rerender } = renderHook(({ rows }) => useNewest(rows, same), {
    initialProps: { rows: ['b', 'a'] },
  })
  rerender({ rows: ['c', 'b', 'a'] })
  expect(result.current.shown).toEqual(['b', 'a'])
  expect(result.current.waiting).toBe(1)
  act(() => result.current.refresh())
  expect(result.current.shown).toEqual(['c', 'b', 'a'])
})

test('the first row of an empty list is shown at once', () => {
  const { result, rerender } = renderHook(({ rows }) => useNewest<string>(rows, same), {
    initialProps: { rows: [] as string[] },
  })
  rerender({ rows: ['a'] })
  expect(result.current.shown).toEqual(['a'])
})
