// @vitest-environment jsdom

import { act, renderHook } from '@testing-library/react'
import { expect, test } from 'vitest'
import { arrange, useSteadyPages } from './held'

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

const pagesOf = (...pages: string[]) => pages.map((ids) => ({ items: [...ids] }))
const steady = (...pages: string[]) =>
  renderHook(({ pages }) => useSteadyPages(pages, (id: string) => id), {
    initialProps: { pages: pagesOf(...pages) },
  })
const told = ({ shown, waiting, left }: ReturnType<typeof useSteadyPages<string>>) =>
  [shown.map(({ row, isGone }) => (isGone ? `(${row})` : row)).join(''), waiting, left] as const

test('rows of a list keep their places until somebody asks for it as it is', () => {
  const { result, rerender } = steady('abc')
  rerender({ pages: pagesOf('xcb') })
  expect(told(result.current)).toEqual(['(a)bc', 1, 1])
  act(() => result.current.refresh())
  expect(told(result.current)).toEqual(['xcb', 0, 0])
})

test('what is loaded below is shown at once, and each row once', () => {
  const { result, rerender } = steady('abc')
  rerender({ pages: pagesOf('xab', 'cde') })
  expect(told(result.current)).toEqual(['abcde', 1, 0])
  rerender({ pages: pagesOf('xab', 'ecd') })
  expect(told(result.current)).toEqual(['abcde', 1, 0])
})

test('a list of which nothing is left is shown as it is', () => {
  const { result, rerender } = steady('ab')
  rerender({ pages: pagesOf('') })
  expect(told(result.current)).toEqual(['', 0, 0])
  rerender({ pages: pagesOf('cd') })
  expect(told(result.current)).toEqual(['cd', 0, 0])
})
