// @vitest-environment jsdom

import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StudioError } from '@/api/client'
import { type RunPage, runListKey } from '@/api/runList'
import type { Run } from '@/api/runs'
import { type Listed, rowsOf } from './listing'
import { ListWatch, type News } from './watching'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const SOON = 1_500 // ms, in which everything that is due was asked for

const run = (id: string, name: string) =>
  ({ id, status: 'running', created_at: id.charCodeAt(0), display_name: name }) as Run

const pageOf = (...items: Run[]): RunPage => ({ items, next: null, end: null })

function watching() {
  const stored = new Map<string, Run>()
  const state = { isAway: null as Error | null }
  const news: News[] = []
  const queries = new QueryClient()
  const key = runListKey({}, 'visit')
  const read = async <Answer>(answer: Answer): Promise<Answer> => {
    await new Promise((arrive) => setTimeout(arrive, 10))
    if (state.isAway !== null) throw state.isAway
    return answer
  }
  const newestFirst = () => [...stored.values()].sort((one, other) => other.created_at - one.created_at)
  const reads = {
    page: () => read(pageOf(...newestFirst())),
    rows: (_: unknown, ids: readonly string[]) => read(newestFirst().filter(({ id }) => ids.includes(id))),
  }
  const watch = new ListWatch(queries, {}, 'visit', (told) => news.push(told), reads)
  const write = (id: string, name: string, topic: 'session' | 'message' = 'session') => {
    stored.set(id, run(id, name))
    watch.heard({ topic, id, session_id: id })
  }
  const show = (rows = newestFirst()) => {
    const listed: Listed = { pages: [pageOf(...rows)], pageParams: [null] }
    queries.setQueryData(key, listed)
    watch.loaded()
    watch.seen(rows.map(({ id }) => id))
  }
  const shown = () => rowsOf(queries.getQueryData<Listed>(key)).map((one) => one.display_name)
  return { watch, write, show, shown, news, state, count: () => news.at(-1)?.count ?? 0 }
}

test('letting in what is new brings back no older row', async () => {
  const { watch, write, show, shown, count } = watching()
  write('a', 'begun')
  show()
  await vi.advanceTimersByTimeAsync(SOON)
  write('b', 'new')
  await vi.advanceTimersByTimeAsync(SOON)
  expect(count()).toBe(1)
  write('a', 'said more', 'message') // after the page that counted was read
  await vi.advanceTimersByTimeAsync(SOON)
  expect(shown()).toEqual(['said more'])
  const taken = watch.take()
  await vi.advanceTimersByTimeAsync(SOON)
  await taken
  expect(shown()).toEqual(['new', 'said more'])
  expect(count()).toBe(0)
})

test('an answer that was asked for before what is new was let in changes nothing any more', async () => {
  const { watch, write, show, shown, count } = watching()
  write('a', 'begun')
  show()
  await vi.advanceTimersByTimeAsync(SOON)
  write('b', 'new')
  await vi.advanceTimersByTimeAsync(105) // the look is on its way
  write('a', 'ended')
  const taken = watch.take()
  await vi.advanceTimersByTimeAsync(SOON)
  await taken
  expect(shown()).toEqual(['new', 'ended'])
  expect(count()).toBe(0)
})

test('who cannot let in what is new is told, and may try again', async () => {
  const { watch, write, show, shown, state } = watching()
  write('a', 'begun')
  show()
  write('b', 'new')
  state.isAway = new StudioError(0, 'unreachable', 'The studio does not answer.', null)
  const failed = expect(watch.take()).rejects.toThrow('The studio does not answer.')
  await vi.advanceTimersByTimeAsync(SOON)
  await failed
  state.isAway = null
  const taken = watch.take()
  await vi.advanceTimersByTimeAsync(SOON)
  await taken
  expect(shown()).toEqual(['new', 'begun'])
})

test('a run that begins while the list is read is announced', async () => {
  const { write, show, count } = watching()
  write('b', 'begun while the list was read')
  await vi.advanceTimersByTimeAsync(SOON) // the look finds no list
  show([run('a', 'begun')])
  await vi.advanceTimersByTimeAsync(SOON)
  expect(count()).toBe(1)
})

test('what was asked while a look failed is looked at', async () => {
  const { write, show, count, state } = watching()
  write('a', 'begun')
  show()
  await vi.advanceTimersByTimeAsync(SOON)
  state.isAway = new StudioError(0, 'unreachable', 'The studio does not answer.', null)
  write('b', 'new')
  await vi.advanceTimersByTimeAsync(105)
  write('c', 'newer') // while the first look is on its way
  await vi.advanceTimersByTimeAsync(5)
  state.isAway = null
  await vi.advanceTimersByTimeAsync(SOON)
  expect(count()).toBe(2)
})

test('a server that had no time is asked again', async () => {
  const { write, show, count, state } = watching()
  write('a', 'begun')
  show()
  await vi.advanceTimersByTimeAsync(SOON)
  state.isAway = new StudioError(503, 'busy', 'The database is busy.', null)
  write('b', 'new')
  await vi.advanceTimersByTimeAsync(200)
  state.isAway = null
  await vi.advanceTimersByTimeAsync(SOON)
  expect(count()).toBe(1)
})

test('runs that are in no loaded page are not remembered for ever, and those that are stay in doubt', async () => {
  const { watch, write, show, shown } = watching()
  write('a', 'begun')
  write('b', 'begun too')
  show()
  await vi.advanceTimersByTimeAsync(SOON)
  watch.seen([])
  write('a', 'said more', 'message') // out of sight
  for (let number = 0; number < 50_000; number += 1) {
    watch.heard({ topic: 'message', id: `m${number}`, session_id: `other ${number}` })
  }
  expect(watch.doubted).toBeLessThan(5_000)
  watch.seen(['a', 'b'])
  await vi.advanceTimersByTimeAsync(SOON)
  expect(shown()).toEqual(['begun too', 'said more'])
})
