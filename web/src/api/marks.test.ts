// @vitest-environment jsdom

import { readFileSync } from 'node:fs'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Change, EVERYTHING, KNOWN_TOPICS, Marker, marksOf } from './marks'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const change = (topic: string, session_id: string | null = 'a'): Change => ({ topic, id: 'x', session_id })
const keysOf = (one: Change) => marksOf(one).map((mark) => JSON.stringify(mark.key))

test('every topic of the server is known here', () => {
  const source = readFileSync('../src/lionstudio/domain/change.py', 'utf8')
  const topics = [...source.matchAll(/^ {4}[A-Z_]+ = "(\w+)"/gm)].map((match) => match[1])
  expect(topics.length).toBeGreaterThan(5)
  expect(KNOWN_TOPICS.toSorted()).toEqual(topics.toSorted())
})

test('a topic of a newer server puts everything out of date', () => {
  expect(keysOf(change('weather'))).toEqual(['[]'])
  expect(keysOf(change('reload'))).toEqual(['[]'])
})

test('what is about one run reaches its page, and no other run’s', () => {
  for (const topic of ['session', 'branch', 'message', 'play', 'team_message'])
    expect(keysOf(change(topic))).toContain('["run","a"]')
  expect(keysOf(change('team_message', null))).toEqual(['["teams"]', '["dashboard"]'])
})

/** A query that is on screen, and how often it was asked. */
function shown(queries: QueryClient, key: string[], takes = 0): { asked: () => number } {
  let asked = 0
  const observer = new QueryObserver(queries, {
    queryKey: key,
    queryFn: async () => {
      asked += 1
      const answer = asked
      await new Promise((resolve) => setTimeout(resolve, takes))
      return answer
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  observer.subscribe(() => undefined)
  return { asked: () => asked }
}

test('a list is read again at once, then at most once a second, and the last change counts', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const list = shown(queries, ['runs', 'all'])
  await vi.advanceTimersByTimeAsync(10)
  expect(list.asked()).toBe(1)
  for (let at = 0; at < 2950; at += 10) {
    for (const mark of marksOf(change('message'))) marker.mark(mark)
    await vi.advanceTimersByTimeAsync(10)
    if (at === 0) expect(list.asked()).toBe(2)
  }
  expect(list.asked()).toBe(4)
  await vi.advanceTimersByTimeAsync(5000)
  expect(list.asked()).toBe(5)
})

test('the page of a run is asked at once, and under many messages once a second', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const run = shown(queries, ['run', 'a', 'detail'])
  const other = shown(queries, ['run', 'b', 'detail'])
  await vi.advanceTimersByTimeAsync(10)
  for (const mark of marksOf(change('message'))) marker.mark(mark)
  await vi.advanceTimersByTimeAsync(10)
  expect(run.asked()).toBe(2)
  for (let number = 0; number < 20; number += 1) {
    for (const mark of marksOf(change('message'))) marker.mark(mark)
    await vi.advanceTimersByTimeAsync(200)
  }
  expect(run.asked()).toBe(6)
  expect(other.asked()).toBe(1)
})

test('an answer that was on its way is neither cancelled nor taken for the newest', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const slow = shown(queries, ['runs'], 700)
  await vi.advanceTimersByTimeAsync(100)
  marker.mark({ key: ['runs'], every: 1000 })
  await vi.advanceTimersByTimeAsync(590)
  expect(slow.asked()).toBe(1)
  await vi.advanceTimersByTimeAsync(100)
  expect(queries.getQueryData(['runs'])).toBe(1)
  expect(slow.asked()).toBe(2)
  await vi.advanceTimersByTimeAsync(3000)
  expect(queries.getQueryData(['runs'])).toBe(2)
  expect(slow.asked()).toBe(2)
})

test('a page that nobody sees asks when it is seen', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const list = shown(queries, ['runs'])
  await vi.advanceTimersByTimeAsync(10)
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  for (let times = 0; times < 5; times += 1) {
    marker.mark({ key: ['runs'], every: 1000 })
    await vi.advanceTimersByTimeAsync(2000)
  }
  expect(list.asked()).toBe(1)
  hidden.mockReturnValue(false)
  marker.catchUp()
  await vi.advanceTimersByTimeAsync(10)
  expect(list.asked()).toBe(2)
})

test('two answers that come one after the other do not keep each other on their way', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const one = shown(queries, ['run', 'a', 'detail'], 70)
  const other = shown(queries, ['run', 'a', 'history'], 75)
  await vi.advanceTimersByTimeAsync(20)
  for (const mark of marksOf(change('message'))) marker.mark(mark) // while both are asked for the first time
  await vi.advanceTimersByTimeAsync(60_000)
  expect([one.asked(), other.asked()]).toEqual([2, 2])
})

test('what changes while an old answer is awaited is asked for at the pace of its kind', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const quick = shown(queries, ['runs', 'quick'], 5)
  const slow = shown(queries, ['runs', 'slow'], 10_000)
  await vi.advanceTimersByTimeAsync(100)
  for (let at = 0; at < 4950; at += 10) {
    marker.mark({ key: ['runs'], every: 1000 })
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(quick.asked()).toBe(6)
  await vi.advanceTimersByTimeAsync(30_000)
  expect([quick.asked(), slow.asked()]).toEqual([7, 2])
})

test('a plan that somebody reads stays as it is when everything else is out of date', async () => {
  const queries = new QueryClient()
  const marker = new Marker(queries)
  const plan = shown(queries, ['plan', 'prune'])
  const trial = shown(queries, ['trial', 'topic'])
  const list = shown(queries, ['runs'])
  await vi.advanceTimersByTimeAsync(10)
  marker.mark(EVERYTHING)
  await vi.advanceTimersByTimeAsync(5000)
  expect([plan.asked(), trial.asked(), list.asked()]).toEqual([1, 1, 2])
})

test('nothing is kept for a run that nobody looks at', async () => {
  const marker = new Marker(new QueryClient())
  const timers = vi.getTimerCount()
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  for (let run = 0; run < 100; run += 1) marker.mark({ key: ['run', `${run}`], every: 150 })
  hidden.mockReturnValue(false)
  marker.catchUp()
  expect(vi.getTimerCount()).toBe(timers)
})
