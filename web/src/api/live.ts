// The one live feed of the app: it says what changed, and the queries that show it are asked again.

import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { holdClock, timeOfStudio } from '@/lib/clock'
import { answerOf, GET } from './client'
import { type Connection, Line } from './line'
import { type Change, EVERYTHING, Marker, marksOf } from './marks'
import { lead, openChannel, type Word } from './tabs'

export type { Change, Connection }

const READY_WITHIN = 150 // ms that the first page waits for the feed, so that it need not read everything twice
const LOOKS_APART = 5000 // ms

let connection: Connection = { state: 'connecting', tries: 0 }
let retry = (): void => undefined
const listeners = new Set<() => void>()
const watchers = new Set<(change: Change) => void>()

function become(next: Connection): void {
  connection = next
  holdClock(next.state === 'offline' ? timeOfStudio(next.since) : null)
  for (const tell of listeners) tell()
}

export type Live = { ready: Promise<void>; stop: () => void }

/** Follow the server for as long as the page is open. Draw the first page when `ready`. */
export function startLive(queries: QueryClient): Live {
  const marker = new Marker(queries)
  const ended = new AbortController()
  let line: Line | null = null
  let seq: number | null = null
  let trying: ReturnType<typeof setTimeout> | undefined
  let isListening = (): void => undefined
  let isDrawn = false
  const ready = new Promise<void>((resolve) => {
    isListening = resolve
    setTimeout(resolve, READY_WITHIN)
  }).then(() => {
    isDrawn = true
  })

  const changed = (change: Change): void => {
    for (const mark of marksOf(change)) marker.mark(mark)
    for (const tell of watchers) tell(change)
  }
  const changedAll = (): void => changed({ topic: 'reload', id: '', session_id: null })
  const take = (word: Word): void => {
    if (word.kind === 'change') {
      if (seq !== null && word.seq <= seq) return // a new leader reads again from where it was itself
      const isGap = seq !== null && word.before > seq
      seq = word.seq
      if (isGap) changedAll()
      else changed(word.change)
    } else if (word.kind === 'reload') {
      seq = word.seq
      changedAll()
    } else if (word.kind === 'opened') {
      marker.mark(EVERYTHING) // what could not be read meanwhile, or tells of the server itself
    } else if (word.kind === 'connection') {
      become(word.connection)
      seq ??= word.seq // from where to go on, should this tab have to
      isListening()
      clearTimeout(trying)
      // The tab that leads may be in the background, where timers come late: whoever is seen sees to it.
      if (word.tryAt !== null && line === null)
        trying = setTimeout(() => channel.say({ kind: 'try now' }), word.tryAt - Date.now())
    } else if (line !== null) {
      if (word.kind === 'try now') line.open()
      else if (word.kind === 'look') line.look()
      else if (word.kind === 'who leads')
        channel.say({ kind: 'connection', connection, tryAt: null, seq: line.seq })
    }
  }
  const channel = openChannel(take)
  const tellAll = (word: Word): void => {
    take(word)
    channel.say(word)
  }
  const begin = (): void => {
    line = new Line(
      {
        opened: (isFirst) => {
          if (!isFirst || isDrawn) tellAll({ kind: 'opened' })
          isListening()
        },
        reload: (at) => tellAll({ kind: 'reload', seq: at }),
        change: (change, at, before) => tellAll({ kind: 'change', change, seq: at, before }),
        connection: (next, tryAt) =>
          tellAll({ kind: 'connection', connection: next, tryAt, seq: line?.seq ?? null }),
        refused: () => void answerOf(GET('/api/ready')).catch(() => undefined), // who has to log in is sent there
      },
      seq,
    )
    line.open()
  }
  const onSeen = (): void => (document.hidden ? undefined : marker.catchUp())
  const onOnline = (): void => line?.open()
  // Timers of the tab that leads come late while it is in the background: whoever is seen reminds it.
  const watch = setInterval(() => {
    if (line !== null) line.look()
    else if (!document.hidden) channel.say({ kind: 'look' })
  }, LOOKS_APART)

  retry = () => (line === null ? channel.say({ kind: 'try now' }) : line.open())
  document.addEventListener('visibilitychange', onSeen)
  addEventListener('online', onOnline)
  lead(begin, ended.signal)
  channel.say({ kind: 'who leads' })
  const stop = (): void => {
    ended.abort()
    line?.close()
    marker.stop()
    channel.close()
    clearTimeout(trying)
    clearInterval(watch)
    document.removeEventListener('visibilitychange', onSeen)
    removeEventListener('online', onOnline)
  }
  return { ready, stop }
}

/** Be told of every change, beside the queries. The topic `reload` says that anything may have changed. */
export function watchChanges(tell: (change: Change) => void): () => void {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

/** Try to reach the server now, not when the wait is over. */
export const reconnect = (): void => retry()

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => connection,
  )
}
