import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { timelineQuery } from './runs'

test('a timeline that was read before is read again by whoever comes back to it', () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  queries.setQueryData(timelineQuery('run-1').queryKey, { lanes: [] })
  expect(new QueryObserver(queries, timelineQuery('run-1')).getCurrentResult().isStale).toBe(true)
})
