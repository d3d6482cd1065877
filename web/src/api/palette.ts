// What the palette looks through. The keys are those of the lists, so that news of them reaches it, too.

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, GET } from './client'

const RUNS = 8
const EVERY = 500 // the most that a page may have

/** Runs that have these words, or those that run and the newest. */
export const runsFoundQuery = (text: string) =>
  queryOptions({
    queryKey: ['runs', 'palette', text],
    queryFn: ({ signal }) =>
      answerOf(
        GET('/api/sessions', {
          params: { query: { limit: RUNS, ...(text === '' ? {} : { search: text }) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const showNamesQuery = queryOptions({
  queryKey: ['shows', 'palette'],
  queryFn: ({ signal }) => answerOf(GET('/api/shows', { params: { query: { limit: EVERY } }, signal })),
})

export const teamNamesQuery = queryOptions({
  queryKey: ['teams', 'palette'],
  queryFn: ({ signal }) => answerOf(GET('/api/teams', { params: { query: { limit: EVERY } }, signal })),
})
