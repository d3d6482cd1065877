import { queryOptions } from '@tanstack/react-query'
import { answerOf, GET, type Schema } from './client'
import type { paths } from './schema.gen'

export type Run = Schema['SessionRow']
export type RunInFull = Schema['SessionFull']
export type Message = Schema['MessageOut']
export type Branch = Schema['BranchOut']
export type ToolErrors = Schema['ToolErrorsOut']
export type MessagePlace = Schema['MessagePlaceOut']
export type Span = Schema['SpanOut']
export type RunFilter = Omit<
  NonNullable<paths['/api/sessions']['get']['parameters']['query']>,
  'cursor' | 'limit'
>

/** How many runs one act may be for, as the server has it. */
export const MOST_AT_ONCE = 1_000

export const runKeys = {
  lists: ['runs'] as const,
  one: (id: string) => ['run', id] as const,
}

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

// Beside the run itself, because it is asked for again less often than each message comes.
export const timelineQuery = (id: string) =>
  queryOptions({
    queryKey: ['timeline', id],
    staleTime: 0, // nobody marks it while no page shows it
    queryFn: ({ signal }) =>
      answerOf(GET('/api/sessions/{session_id}/timeline', { params: { path: { session_id: id } }, signal })),
  })

const TEAM_MESSAGES = 100

export const teamMessagesOfRunQuery = (id: string) =>
  queryOptions({
    queryKey: ['teams', 'of run', id],
    queryFn: ({ signal }) =>
      answerOf(
        GET('/api/sessions/{session_id}/team-messages', {
          params: { path: { session_id: id }, query: { limit: TEAM_MESSAGES, order: 'newest' } },
          signal,
        }),
      ),
  })

/** One message, by where it stands. What was said rarely changes, so it is asked for once. */
export const messageAtQuery = (id: string, place: MessagePlace) =>
  queryOptions({
    queryKey: ['message', id, place.branch_id, place.position],
    queryFn: async ({ signal }) => {
      const page = await answerOf(
        GET('/api/sessions/{session_id}/messages', {
          params: {
            path: { session_id: id },
            query: { branch: place.branch_id, after: place.position - 1, limit: 1 },
          },
          signal,
        }),
      )
      return page.items[0] ?? null
    },
  })
