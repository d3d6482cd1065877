import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, GET, POST, type Schema } from './client'
import { inTurn, PAGES } from './paging'

export type Show = Schema['ShowRow']
export type ShowInFull = Schema['ShowFull']
export type ShowOnDisk = Schema['DiskShow']
export type Play = Schema['PlayRow']
export type PlayInShow = Schema['PlayInShow']
export type PlayInFull = Schema['PlayFull']
export type PlayStatus = Schema['PlayStatus']
export type ShowFilter = Show['status']

const PAGE = 100

// The live feed marks everything that begins with `shows`, when a show or a play changes.
export const showKeys = {
  all: ['shows'] as const,
  one: (topic: string) => ['shows', 'one', topic] as const,
}

export const showsQuery = (status: ShowFilter | undefined, visit: string) =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...showKeys.all, 'list', status ?? null, visit],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/shows', {
          params: { query: { ...(status === undefined ? {} : { status }), cursor: pageParam, limit: PAGE } },
          signal,
        }),
      ),
    ),
  })

/** Plays of every show that have come to one of these words. */
export const playsQuery = (status: readonly PlayStatus[], visit = '') =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...showKeys.all, 'plays', status, visit],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/plays', {
          params: { query: { status: [...status], cursor: pageParam, limit: PAGE } },
          signal,
        }),
      ),
    ),
  })

export const showQuery = (topic: string) =>
  queryOptions({
    queryKey: [...showKeys.one(topic), 'detail'],
    queryFn: ({ signal }) => answerOf(GET('/api/shows/{topic}', { params: { path: { topic } }, signal })),
  })

export const playQuery = (topic: string, name: string) =>
  queryOptions({
    queryKey: [...showKeys.one(topic), 'play', name],
    queryFn: ({ signal }) =>
      answerOf(GET('/api/shows/{topic}/plays/{name}', { params: { path: { topic, name } }, signal })),
  })

export type Judgement = Omit<Schema['GateIn'], 'dry_run'>

/** What a person says of a play; `dry_run` only asks what would come of it. */
export const judgePlay = (topic: string, name: string, judgement: Judgement, dry_run: boolean) =>
  answerOf(
    POST('/api/shows/{topic}/plays/{name}/gate', {
      params: { path: { topic, name } },
      body: { ...judgement, dry_run },
    }),
  )

/** A show that only its folder knows has no state of its own. */
export const isOnDisk = (show: ShowInFull | ShowOnDisk): show is ShowOnDisk => !('state' in show)
