// What operators see and do. Every act can be planned first: the plan is the same request as a dry run.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, GET, POST, type Schema, StudioError } from './client'
import { inTurn, PAGES } from './paging'
import type { paths } from './schema.gen'

export type Health = Schema['HealthOut']
export type QueueRow = Schema['Unhealthy']
export type AdminEvent = Schema['EventOut']
export type Refusal = Schema['Refusal']
export type ExportFormat = Schema['ExportFormat']
export type EventFilter = Pick<
  NonNullable<paths['/api/admin/events']['get']['parameters']['query']>,
  'action' | 'actor' | 'target_id'
>

/** What an act would do to the runs that it may be done to, and which ones it may not. */
export type Plan<Answer> = { answer: Answer | null; refusals: Refusal[] }

const EVENTS_A_PAGE = 50
const LOOK_AGAIN = 1500 // ms, while the very first look at the disk goes on

export const adminKeys = { all: ['admin'] as const }

// The plan of an act that cannot be undone is made when it is asked for, and stands until it is done: it must not
// change under the eyes of who reads it, nor be made again for runs that the act itself took away.
const PLANNED = { staleTime: 0, gcTime: 0 } as const

export const healthQuery = (rows: number) =>
  queryOptions({
    queryKey: [...adminKeys.all, 'health', rows],
    queryFn: ({ signal }) =>
      answerOf(GET('/api/admin/health', { params: { query: { limit: rows } }, signal })),
    placeholderData: keepPreviousData,
    // The look at the disk is the one thing that ends without news.
    refetchInterval: (query) => (query.state.data?.resources.pending ? LOOK_AGAIN : false),
  })

export const readyQuery = queryOptions({
  queryKey: [...adminKeys.all, 'ready'],
  queryFn: ({ signal }) => answerOf(GET('/api/ready', { signal })),
})

export const eventsQuery = (filter: EventFilter = {}) =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...adminKeys.all, 'events', filter],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/admin/events', {
          params: { query: { ...filter, cursor: pageParam, limit: EVENTS_A_PAGE } },
          signal,
        }),
      ),
    ),
    placeholderData: keepPreviousData,
  })

/** Ask for a plan; where some runs are refused, for those that are left. */
async function planFor<Answer>(
  ids: readonly string[],
  ask: (ids: string[]) => Promise<Answer>,
): Promise<Plan<Answer>> {
  const refusals: Refusal[] = []
  let left = [...ids]
  while (left.length > 0) {
    try {
      return { answer: await ask(left), refusals }
    } catch (error) {
      if (!(error instanceof StudioError) || error.refusals.length === 0) throw error
      refusals.push(...error.refusals)
      const refused = new Set(refusals.map((refusal) => refusal.session_id))
      left = left.filter((id) => !refused.has(id))
    }
  }
  return { answer: null, refusals }
}

type TransitionOrder = Omit<Schema['TransitionIn'], 'dry_run'>

export const transition = (order: TransitionOrder, dryRun = false, signal?: AbortSignal) =>
  answerOf(
    POST('/api/admin/transition', {
      body: { ...order, dry_run: dryRun },
      ...(signal === undefined ? {} : { signal }),
    }),
  )

export const transitionPlanQuery = (order: TransitionOrder) => {
  const { note, ...rest } = order
  return queryOptions({
    staleTime: 0, // time alone can change it, and nobody tells of that
    // What a note says changes nothing about the plan, so typing one asks for no other.
    queryKey: [...adminKeys.all, 'transition', rest, order.force && Boolean(note)],
    queryFn: ({ signal }) =>
      planFor(order.session_ids, (ids) => transition({ ...order, session_ids: ids }, true, signal)),
    placeholderData: keepPreviousData,
  })
}

export const cleanUp = (body: Schema['CleanupIn']) => answerOf(POST('/api/admin/cleanup', { body }))

export const cleanupPlanQuery = (ids: readonly string[]) =>
  queryOptions({
    ...PLANNED,
    queryKey: ['plan', 'cleanup', ids],
    queryFn: () => planFor(ids, (some) => cleanUp({ session_ids: some, dry_run: true })),
  })

export const repair = (body: Schema['RepairIn']) => answerOf(POST('/api/admin/repair', { body }))

export const repairPlanQuery = (ids: readonly string[]) =>
  queryOptions({
    ...PLANNED,
    queryKey: ['plan', 'repair', ids],
    queryFn: () => planFor(ids, (some) => repair({ session_ids: some, dry_run: true })),
  })

export const prune = (body: Schema['PruneIn']) => answerOf(POST('/api/admin/prune', { body }))

export const prunePlanQuery = (ids: readonly string[]) =>
  queryOptions({
    ...PLANNED,
    queryKey: ['plan', 'prune', ids],
    queryFn: () => planFor(ids, (some) => prune({ session_ids: some, dry_run: true })),
    placeholderData: keepPreviousData,
  })

export const agePrunePlanQuery = (keep: { keep_days: number; keep_n: number }) =>
  queryOptions({
    ...PLANNED,
    queryKey: ['plan', 'prune by age', keep],
    queryFn: () => prune({ ...keep, dry_run: true }),
    placeholderData: keepPreviousData,
  })

export const legacyQuery = queryOptions({
  queryKey: [...adminKeys.all, 'legacy'],
  queryFn: ({ signal }) => answerOf(GET('/api/admin/legacy', { signal })),
})

export const backfillLegacy = (body: Schema['LegacyIn'] = { dry_run: false }) =>
  answerOf(POST('/api/admin/legacy/backfill', { body }))

export const archiveLegacy = (body: Schema['LegacyIn'] = { dry_run: false }) =>
  answerOf(POST('/api/admin/legacy/archive', { body }))

export const archivePlanQuery = queryOptions({
  ...PLANNED,
  queryKey: ['plan', 'archive'],
  queryFn: () => archiveLegacy({ dry_run: true }),
})

export const runDoctor = () =>
  answerOf(POST('/api/admin/doctor', { body: { dry_run: false, transition_stale: false } }))
export const checkpoint = () => answerOf(POST('/api/admin/checkpoint', { body: { mode: 'TRUNCATE' } }))
export const vacuum = () => answerOf(POST('/api/admin/vacuum', {}))
