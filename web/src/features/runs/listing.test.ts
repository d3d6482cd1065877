import { expect, test } from 'vitest'
import { placeOf, type RunPage } from '@/api/runList'
import type { Run } from '@/api/runs'
import { findNew, isBefore, type Listed, replaceRows, rowsOf } from './listing'

const runOf = (id: string, created_at: number, changes: Partial<Run> = {}): Run => ({
  id,
  name: id,
  display_name: id,
  status: 'completed',
  effective_health: 'healthy',
  chain: ['Completed'],
  state: {
    lifecycle: 'ended',
    outcome: 'completed',
    health: 'ok',
    delivery: 'not_expected',
    severity: 'neutral',
    tone: 'success',
    reasons: [],
  },
  activity: null,
  created_at,
  started_at: created_at,
  updated_at: created_at,
  ended_at: created_at,
  last_message_at: null,
  message_count: 0,
  branch_count: 1,
  duration_ms: 0,
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    cost_usd: null,
  },
  provenance: { kind: null, source: null, agent: null, playbook: null, show: null, play: null, parent: null },
  ...changes,
})
const pageOf = (items: Run[], next: string | null = null): RunPage => {
  const last = items.at(-1)
  return { items, next, end: last === undefined ? null : placeOf(last) }
}
const listOf = (...pages: RunPage[]): Listed => ({ pages, pageParams: pages.map(() => null) })

const running = (id: string, at: number) =>
  runOf(id, at, { status: 'running', ended_at: null, duration_ms: null })

test('a run that came twice is shown once', () => {
  const [a, b, c] = [runOf('a', 3), runOf('b', 2), runOf('c', 1)]
  expect(rowsOf(listOf(pageOf([a, b], 'more'), pageOf([b, c]))).map((run) => run.id)).toEqual(['a', 'b', 'c'])
})

test('a row that changed stays in its place, and pages without one stay the same', () => {
  const list = listOf(pageOf([running('a', 4), running('b', 3)], 'more'), pageOf([runOf('c', 2)]))
  const ended = runOf('a', 4)
  const next = replaceRows(list, [ended, runOf('unknown', 9)])
  expect(rowsOf(next)).toEqual([ended, running('b', 3), runOf('c', 2)])
  expect(next.pages[1]).toBe(list.pages[1])
})

test('what began since is new', () => {
  const list = listOf(pageOf([running('a', 4), runOf('b', 3)], 'more'))
  const first = pageOf([running('z', 9), running('a', 4), runOf('b', 3)], 'more')
  expect(findNew(list, first, undefined).map((run) => run.id)).toEqual(['z'])
})

test('what only moved up because another one ended is not new', () => {
  const list = listOf(pageOf([running('a', 9), running('b', 8)], 'more'))
  const first = pageOf([running('b', 8), running('c', 7)], 'more')
  expect(findNew(list, first, undefined)).toEqual([])
})

test('the end of what is loaded stays where it was read, whatever became of its last row', () => {
  const list = replaceRows(listOf(pageOf([running('a', 9), running('b', 8)], 'more')), [runOf('b', 8)])
  expect(findNew(list, pageOf([running('a', 9), running('c', 7)], 'more'), undefined)).toEqual([])
})

test('in a list that is loaded to its end everything unknown is new', () => {
  expect(findNew(listOf(pageOf([])), pageOf([runOf('a', 1)]), undefined)).toHaveLength(1)
})

test('runs stand as the server orders them', () => {
  const old = running('old', 1)
  const young = runOf('young', 5)
  expect(isBefore(placeOf(old), placeOf(young))).toBe(true)
  expect(isBefore(placeOf(old, 'created'), placeOf(young, 'created'))).toBe(false)
  expect(isBefore(placeOf(old, 'ended'), placeOf(young, 'ended'))).toBe(true)
  expect(isBefore(placeOf(runOf('b', 1)), placeOf(runOf('a', 1)))).toBe(true)
  expect(isBefore(placeOf(old), placeOf(old))).toBe(false)
})
