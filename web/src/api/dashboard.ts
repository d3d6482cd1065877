import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, GET, type Schema } from './client'
import { inTurn, PAGES } from './paging'

export type Stats = Schema['StatsOut']
export type Concern = Schema['AttentionOut']
export type Execution = Schema['ExecutionOut']
export type RefusedPlay = Schema['RefusedPlay']
export type Signal = Schema['Signal']

export const dashboardKeys = { all: ['dashboard'] as const }

const PAGE = 100
// The last 24 hours and "over 60 minutes" move by themselves, and no news tells of it.
const TIME_MOVES = 60_000 // ms

export const statsQuery = queryOptions({
  queryKey: [...dashboardKeys.all, 'stats'],
  queryFn: ({ signal }) => answerOf(GET('/api/stats', { signal })),
  refetchInterval: TIME_MOVES,
})

/** The first of what needs a look. */
export const attentionQuery = (limit: number) =>
  queryOptions({
    queryKey: [...dashboardKeys.all, 'attention', limit],
    queryFn: ({ signal }) => answerOf(GET('/api/attention', { params: { query: { limit } }, signal })),
    refetchInterval: TIME_MOVES,
  })

/**
 * The first of what runs now, those that wait for a person before the others. The key is that of lists of runs, because
 * every message may change an activity.
 */
export const activeRunsQuery = (limit: number) =>
  queryOptions({
    queryKey: ['runs', 'active now', limit],
    queryFn: async ({ signal }) => {
      const list = (query: { view: 'waiting' } | { status: 'running' }) =>
        answerOf(GET('/api/sessions', { params: { query: { ...query, limit } }, signal }))
      const [waiting, running] = await Promise.all([list({ view: 'waiting' }), list({ status: 'running' })])
      const known = new Set(waiting.items.map((run) => run.id))
      return [...waiting.items, ...running.items.filter((run) => !known.has(run.id))].slice(0, limit)
    },
  })

export const showsInProgressQuery = (limit: number) =>
  queryOptions({
    queryKey: ['shows', 'in progress', limit],
    queryFn: ({ signal }) =>
      answerOf(GET('/api/shows', { params: { query: { status: 'active', on_disk: false, limit } }, signal })),
  })

/** Everything that needs a look, or what gives one signal. */
export const concernsQuery = (wanted: Signal | undefined, visit: string) =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...dashboardKeys.all, 'concerns', wanted ?? null, visit],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/attention', {
          params: { query: { signal: wanted ?? null, cursor: pageParam, limit: PAGE } },
          signal,
        }),
      ),
    ),
    refetchInterval: TIME_MOVES,
  })

export const executionsQuery = (visit: string) =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...dashboardKeys.all, 'executions', visit],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(GET('/api/executions', { params: { query: { cursor: pageParam, limit: PAGE } }, signal })),
    ),
  })

export const requestChangesQuery = (visit: string) =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...dashboardKeys.all, 'request changes', visit],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/request-changes', { params: { query: { cursor: pageParam, limit: PAGE } }, signal }),
      ),
    ),
    refetchInterval: TIME_MOVES,
  })
