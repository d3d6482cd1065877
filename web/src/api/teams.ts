import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, GET, type Schema } from './client'
import { inTurn, PAGES } from './paging'

export type Team = Schema['TeamRow']
export type TeamInFull = Schema['TeamFull']
export type Member = Schema['MemberOut']
export type TeamMessage = Schema['TeamMessageOut']
export type TeamStatus = Schema['TeamStatus']
/** What a list of messages is narrowed to. */
export type MessageFilter = { from?: string; to?: string; unread?: boolean }

const PAGE = 100
const MESSAGES = 50
const IN_LANES = 300 // the newest messages that the lanes draw; older ones are in the list

export const teamKeys = {
  all: ['teams'] as const,
  one: (team: string) => ['teams', 'one', team] as const,
}

export const teamsQuery = (status: TeamStatus | undefined, visit = '') =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...teamKeys.all, 'list', status ?? null, visit],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/teams', {
          params: { query: { status: status ?? null, cursor: pageParam, limit: PAGE } },
          signal,
        }),
      ),
    ),
  })

export const teamQuery = (team: string) =>
  queryOptions({
    queryKey: [...teamKeys.one(team), 'detail'],
    queryFn: ({ signal }) => answerOf(GET('/api/teams/{team}', { params: { path: { team } }, signal })),
  })

/** `to` a name: what is there for them, also what went to everyone; `to` all: only what went to everyone. */
function queryOf({ from, to, unread }: MessageFilter) {
  const isToEveryone = to === 'all'
  return {
    ...(from === undefined ? {} : { sender: from }),
    ...(to === undefined ? {} : isToEveryone ? { recipient: to } : { member: to }),
    ...(unread === true && to !== undefined && !isToEveryone ? { unread } : {}),
  }
}

export const teamMessagesQuery = (team: string, filter: MessageFilter) =>
  infiniteQueryOptions({
    ...PAGES,
    queryKey: [...teamKeys.one(team), 'messages', filter],
    queryFn: inTurn(({ pageParam, signal }) =>
      answerOf(
        GET('/api/teams/{team}/messages', {
          params: {
            path: { team },
            query: { ...queryOf(filter), full: false, cursor: pageParam, limit: MESSAGES },
          },
          signal,
        }),
      ),
    ),
  })

export const teamLanesQuery = (team: string) =>
  queryOptions({
    queryKey: [...teamKeys.one(team), 'lanes'],
    queryFn: ({ signal }) =>
      answerOf(
        GET('/api/teams/{team}/messages', {
          params: { path: { team }, query: { full: false, limit: IN_LANES } },
          signal,
        }),
      ),
  })

// What was written never changes, so it is asked for once, whatever the live feed says.
export const teamMessageQuery = (team: string, id: string) =>
  queryOptions({
    queryKey: ['team-message', team, id],
    queryFn: ({ signal }) =>
      answerOf(
        GET('/api/teams/{team}/messages/{message_id}', {
          params: { path: { team, message_id: id } },
          signal,
        }),
      ),
  })
