import { queryOptions } from '@tanstack/react-query'
import { answerOf, GET } from './client'

export const dashboardKeys = { all: ['dashboard'] as const }

export const statsQuery = queryOptions({
  queryKey: [...dashboardKeys.all, 'stats'],
  queryFn: ({ signal }) => answerOf(GET('/api/stats', { signal })),
})

export const attentionQuery = (limit = 100) =>
  queryOptions({
    queryKey: [...dashboardKeys.all, 'attention', limit],
    queryFn: ({ signal }) => answerOf(GET('/api/attention', { params: { query: { limit } }, signal })),
  })
