import { queryOptions } from '@tanstack/react-query'
import { answerOf, GET } from './client'

export const totalsQuery = queryOptions({
  queryKey: ['totals'],
  queryFn: ({ signal }) => answerOf(GET('/api/totals', { signal })),
})
