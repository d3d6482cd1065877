// What was said in a run, and where in it something is.

import { queryOptions } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { answerOf, GET, type Schema } from './client'
import { type Ask, History } from './history'
import { useConnection, watchChanges } from './live'
import type { Message } from './runs'

export type { History, Message }
export type MessageShare = Schema['MessageShare']

const FIRST_LOOK = 20 // messages that fill a pane, about

/** The history of a run or of one of its branches, kept up to date for as long as it is shown. */
export function useHistory(
  runId: string,
  branchId: string | null,
  length: number,
  /** Where the reader begins. */
  at: number,
): History {
  const open = (): History => openHistory(runId, branchId, length, at)
  const [history, setHistory] = useState(open)
  const [shown, setShown] = useState(`${runId} ${branchId}`)
  const wanted = `${runId} ${branchId}`
  let current = history
  if (shown !== wanted) {
    current = open()
    setHistory(current)
    setShown(wanted)
  }
  useSyncExternalStore(current.subscribe, current.version)
  useEffect(() => current.grow(length), [current, length])
  useEffect(
    () =>
      watchChanges((change) => {
        if (change.topic === 'reload') current.refresh()
        else if (change.topic === 'message' && change.session_id === runId) current.changed(change.id)
      }),
    [current, runId],
  )
  const isLive = useConnection().state === 'live'
  useEffect(() => {
    if (isLive) current.catchUp() // what was said while nobody listened
  }, [current, isLive])
  return current
}

function openHistory(runId: string, branchId: string | null, length: number, at: number): History {
  const ask: Ask = (after, limit) =>
    answerOf(
      GET('/api/sessions/{session_id}/messages', {
        params: { path: { session_id: runId }, query: { branch: branchId, after, limit } },
      }),
    )
  const history = new History(ask, length)
  history.need([[at - FIRST_LOOK, at]]) // while the page is drawn that will need it
  return history
}

type Question = { share: MessageShare | null; search: string | null }

/** Where messages stand that are looked for. `asOf` is what makes the answer another one, such as the length. */
export const positionsQuery = (runId: string, branchId: string | null, question: Question, asOf: number) =>
  queryOptions({
    // Not among what a run's every message makes out of date: a long history is not searched for each of them.
    queryKey: ['positions', runId, branchId, question, asOf],
    queryFn: ({ signal }) =>
      answerOf(
        GET('/api/sessions/{session_id}/positions', {
          params: { path: { session_id: runId }, query: { branch: branchId, ...question } },
          signal,
        }),
      ),
    // Where the same was a moment ago, and nothing else: other words stand elsewhere.
    placeholderData: (before, asked) =>
      isSameQuestion(asked?.queryKey, runId, branchId, question) ? before : undefined,
    gcTime: 10_000,
  })

/** Whether a key asks the same, if only of another time: its first part is its kind, its last one the time. */
export const isSameQuestion = (key: readonly unknown[] | undefined, ...asked: unknown[]): boolean =>
  JSON.stringify(key?.slice(1, -1)) === JSON.stringify(asked)
