// The long list of runs. It is not asked for again as a whole: what changed on the screen is, and whether anything is new.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { timeOfStudio } from '@/lib/clock'
import { answerOf, GET, type Schema } from './client'
import { type Run, type RunFilter, runKeys } from './runs'

const HOUR = 3600
const DAY = 24 * HOUR

/** How long ago a run may have begun, as addresses say it, so that a list that is sent to somebody stays as it is meant. */
export const SPANS = {
  '1h': HOUR,
  '24h': DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
  '12mo': 365 * DAY,
} as const
export type Span = keyof typeof SPANS

/** What a list is narrowed to, as its address has it. */
export type RunSearch = {
  view?: Schema['View']
  status?: Schema['SessionStatus']
  health?: Schema['Health']
  kind?: Schema['InvocationKind']
  source?: Schema['SourceKind']
  agent?: string
  playbook?: string
  show?: string
  /** A length of time, or a moment in unix seconds. */
  since?: Span | number
  search?: string
  sort?: Schema['Sort']
}

const FIRST_PAGE = 100 // rows: soon there
const PAGE = 250
export const ROWS_AT_ONCE = 100 // ids of one question

export type RunPage = {
  items: Run[]
  next: string | null
  /** Where its last row stood when it was read. A row keeps its place in a list, whatever becomes of it. */
  end: Place | null
}

/** Where a run stands in a list: the greatest comes first. */
export type Place = readonly [group: number, at: number, id: string]

/** The server's orders: what runs, or has not ended, then the newest. */
export function placeOf(run: Run, sort: Schema['Sort'] = 'active'): Place {
  switch (sort) {
    case 'active':
      return [run.status === 'running' ? 1 : 0, run.created_at, run.id]
    case 'created':
      return [0, run.created_at, run.id]
    case 'ended':
      return [run.ended_at === null ? 1 : 0, run.ended_at ?? run.created_at, run.id]
  }
}

function filterOf({ since, ...rest }: RunSearch, now: number): RunFilter {
  if (since === undefined) return rest
  return { ...rest, since: typeof since === 'number' ? since : now - SPANS[since] }
}

export async function readRunPage(
  search: RunSearch,
  cursor: string | null = null,
  signal?: AbortSignal,
): Promise<RunPage> {
  const query = {
    ...filterOf(search, timeOfStudio()),
    cursor,
    limit: cursor === null ? FIRST_PAGE : PAGE,
  }
  const page = await answerOf(
    GET('/api/sessions', { params: { query }, ...(signal === undefined ? {} : { signal }) }),
  )
  const last = page.items.at(-1)
  return {
    items: page.items,
    next: page.next_cursor ?? null,
    end: last === undefined ? null : placeOf(last, search.sort),
  }
}

/** Those of these runs that belong to a list, as they are now. */
export async function readRuns(search: RunSearch, ids: readonly string[]): Promise<Run[]> {
  if (ids.length === 0) return []
  const query = { ...filterOf(search, timeOfStudio()), id: [...ids], limit: ROWS_AT_ONCE }
  return (await answerOf(GET('/api/sessions', { params: { query } }))).items
}

/** Some runs by their ids, however many. One that is gone is not among them. */
export const someRunsQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: [...runKeys.lists, 'some', ids],
    queryFn: async () => {
      const found = new Map<string, Run>()
      for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
        for (const run of await readRuns({}, ids.slice(from, from + ROWS_AT_ONCE))) found.set(run.id, run)
      }
      return found
    },
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  })

const MOST_ALIKE = 100

/** Runs whose ids begin so; nobody types one in full. */
export const runsBeginningQuery = (beginning: string) =>
  queryOptions({
    queryKey: [...runKeys.lists, 'beginning', beginning],
    queryFn: async ({ signal }) => {
      const query = { search: beginning, limit: MOST_ALIKE }
      const { items } = await answerOf(GET('/api/sessions', { params: { query }, signal }))
      return items.filter((run) => run.id.startsWith(beginning)) // names may begin so, too
    },
    retry: false,
  })

export const runListKey = (search: RunSearch, visit: string) => ['run-list', search, visit] as const

export const runListQuery = (search: RunSearch, visit: string) =>
  infiniteQueryOptions({
    queryKey: runListKey(search, visit),
    queryFn: ({ pageParam, signal }) => readRunPage(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    staleTime: 'static', // fifty pages are not read again because one run said something
  })
