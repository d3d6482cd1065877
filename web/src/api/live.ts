// The one EventSource of the app: it says what changed, and the queries that show it are asked again.

import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

export type Connection =
  | { state: 'connecting'; tries: number }
  | { state: 'live'; at: number }
  | { state: 'offline'; tries: number; since: number }

type Change = { topic: string; id: string; session_id: string | null }

const MARK_EVERY = 250 // ms: many changes in a moment are one look

// Which queries show a topic. A query whose key begins so is out of date when the topic changes.
const KEYS: Record<string, (change: Change) => unknown[][]> = {
  session: (change) => [['runs'], ['run', change.session_id], ['dashboard'], ['admin']],
  message: (change) => [['run', change.session_id], ['runs'], ['dashboard', 'stats']],
  branch: (change) => [['run', change.session_id]],
  show: () => [['shows'], ['dashboard']],
  play: () => [['shows'], ['dashboard']],
  team: () => [['teams'], ['dashboard', 'stats']],
  admin: () => [['admin']],
}

let connection: Connection = { state: 'connecting', tries: 0 }
const listeners = new Set<() => void>()
const watchers = new Set<(change: Change) => void>()

function become(next: Connection): void {
  connection = next
  for (const tell of listeners) tell()
}

/** Follow the server for as long as the page is open. */
export function startLive(queries: QueryClient): () => void {
  const due = new Map<string, unknown[]>()
  let marking: ReturnType<typeof setTimeout> | undefined

  const mark = (key: unknown[]): void => {
    due.set(JSON.stringify(key), key)
    marking ??= setTimeout(() => {
      marking = undefined
      for (const one of due.values()) void queries.invalidateQueries({ queryKey: one })
      due.clear()
    }, MARK_EVERY)
  }
  const heard = (): void => {
    if (connection.state !== 'live') become({ state: 'live', at: Date.now() })
  }
  const lost = (): void => {
    const tries = connection.state === 'live' ? 1 : connection.tries + 1
    const since = connection.state === 'offline' ? connection.since : Date.now()
    become({ state: 'offline', tries, since })
  }
  const source = new EventSource('/api/events')
  source.addEventListener('hello', heard)
  source.addEventListener('reload', () => {
    heard()
    void queries.invalidateQueries()
  })
  source.addEventListener('change', (event) => {
    heard()
    const change = JSON.parse(event.data) as Change
    for (const key of KEYS[change.topic]?.(change) ?? []) mark(key)
    for (const tell of watchers) tell(change)
  })
  source.onerror = lost // the browser tries again by itself, with the last number it got
  return () => {
    source.close()
    clearTimeout(marking)
  }
}

/** Be told of every change, beside the queries. */
export function watchChanges(tell: (change: Change) => void): () => void {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => connection,
  )
}
