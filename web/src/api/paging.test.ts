import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inTurn, PAGES } from './paging'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function listing() {
  const asked: (string | null)[] = []
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  const list = new InfiniteQueryObserver(queries, {
    ...PAGES,
    queryKey: ['list'],
    queryFn: inTurn(async ({ pageParam }) => {
      asked.push(pageParam)
      return { next_cursor: String(Number(pageParam ?? 0) + 1) }
    }),
  })
  list.subscribe(() => undefined)
  const heard = () => queries.invalidateQueries({ queryKey: ['list'] }, { cancelRefetch: false })
  return { list, heard, asked }
}

/** News every second, as under heavy writing. */
async function hear(heard: () => unknown, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    void heard()
    await vi.advanceTimersByTimeAsync(1000)
  }
}

test('a list of one page is read again with each news of it', async () => {
  const { heard, asked } = listing()
  await vi.advanceTimersByTimeAsync(0)
  asked.length = 0
  await hear(heard, 10)
  expect(asked).toHaveLength(10)
})

test('a list of ten pages asks no more often than a list of one', async () => {
  const { list, heard, asked } = listing()
  await vi.advanceTimersByTimeAsync(0)
  for (let page = 1; page < 10; page += 1) await list.fetchNextPage()
  expect(asked).toHaveLength(10)
  asked.length = 0
  await hear(heard, 60)
  expect(asked.length).toBeGreaterThanOrEqual(40)
  expect(asked.length).toBeLessThanOrEqual(60)
})

test('who asks for more gets it at once, also while the list rests', async () => {
  const { list, heard, asked } = listing()
  await vi.advanceTimersByTimeAsync(0)
  await list.fetchNextPage()
  void heard()
  await vi.advanceTimersByTimeAsync(10)
  await list.fetchNextPage()
  expect(asked).toEqual([null, '1', '2'])
})
