import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, GET, type Schema } from './client'
import type { paths } from './schema.gen'

export type Run = Schema['SessionRow']
export type RunInFull = Schema['SessionFull']
export type Message = Schema['MessageOut']
export type RunFilter = Omit<
  NonNullable<paths['/api/sessions']['get']['parameters']['query']>,
  'cursor' | 'limit'
>

const PAGE = 100

export const runKeys = {
  lists: ['runs'] as const,
  one: (id: string) => ['run', id] as const,
}

export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: [...runKeys.lists, filter],
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        GET('/api/sessions', { params: { query: { ...filter, cursor: pageParam, limit: PAGE } }, signal }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor ?? null,
  })

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.one(id), 'detail'],
    queryFn: ({ signal }) =>
      answerOf(GET('/api/sessions/{session_id}', { params: { path: { session_id: id } }, signal })),
  })

export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.one(id), 'history'],
    queryFn: ({ signal }) =>
      answerOf(GET('/api/sessions/{session_id}/history', { params: { path: { session_id: id } }, signal })),
  })
