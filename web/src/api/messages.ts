// What was said in a run, read in windows: a history may have tens of thousands of messages, and one shows forty.

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { answerOf, GET, type Schema } from './client'
import { useConnection, watchChanges } from './live'
import type { Message } from './runs'

export type { Message }
export type MessageShare = Schema['MessageShare']

const WINDOW = 50 // messages that are asked for at once
const CATCH_UP = 200
const FAR_BEHIND = 400 // more new messages than this are counted, and read when somebody looks at them

export type Range = readonly [from: number, to: number]
type Page = { items: Message[]; next_cursor?: string | null }
type Ask = (after: number, limit: number) => Promise<Page>

/** One order of messages: a branch with all it inherited, or everything a run said. Positions have no gaps. */
export class History {
  length: number
  trouble: Error | null = null
  /** The last position at which somebody told the agent something: calls before it are not waited for any more. */
  lastTurn = 0
  #version = 0
  #isCatchingUp = false
  #isDue = false
  #shown = new Set<number>() // windows that somebody looks at
  readonly #ask: Ask
  readonly #messages = new Map<number, Message>()
  readonly #positions = new Map<string, number>()
  readonly #results = new Map<string, number>() // by the call that they answer
  readonly #asked = new Set<number>() // windows on their way
  readonly #listeners = new Set<() => void>()

  constructor(ask: Ask, length: number) {
    this.#ask = ask
    this.length = length
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly version = (): number => this.#version

  at(position: number): Message | undefined {
    return this.#messages.get(position)
  }

  positionOf(id: string): number | undefined {
    return this.#positions.get(id)
  }

  /** The result of a tool call, if it has been read. */
  resultOf(call: Message): Message | undefined {
    const position = this.#results.get(call.id)
    return position === undefined ? undefined : this.#messages.get(position)
  }

  /** The position of the call that shows this result; undefined if the result has to be shown by itself. */
  callOf(result: Message): number | undefined {
    const id = callId(result)
    if (id === null || this.#results.get(id) !== result.position) return undefined
    return this.#positions.get(id)
  }

  /** Read what is not here yet of these positions, and keep it up to date. */
  need(ranges: readonly Range[]): void {
    this.#shown = new Set()
    for (const [from, to] of ranges) {
      const last = Math.min(to, this.length)
      for (let start = windowOf(Math.max(1, from)); start <= last; start += WINDOW) this.#shown.add(start)
    }
    for (const start of this.#shown) {
      if (!this.#asked.has(start) && this.#lacks(start)) void this.#read(start)
    }
  }

  /** There may be this many by now. */
  grow(length: number): void {
    if (length <= this.length) return
    if (length - this.length > FAR_BEHIND) {
      this.length = length
      this.#tell()
    } else void this.catchUp()
  }

  /** A message was stored: a new one, or a known one that was overwritten in place. */
  changed(id: string): void {
    const position = this.#positions.get(id)
    if (position === undefined) void this.catchUp()
    else void this.#again(position)
  }

  /** Nobody knows what changed: read again what is looked at, and what is new. */
  refresh(): void {
    for (const start of this.#shown) void this.#read(start)
    void this.catchUp()
  }

  /** Read everything after the last known position. Asked for while it reads, it reads once more. */
  async catchUp(): Promise<void> {
    this.#isDue = true
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    try {
      while (this.#isDue) {
        this.#isDue = false
        const page = await this.#ask(this.length, CATCH_UP)
        this.#put(page.items)
        if (page.next_cursor) this.#isDue = true
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isCatchingUp = false
    }
  }

  async #again(position: number): Promise<void> {
    try {
      this.#put((await this.#ask(position - 1, 1)).items)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #read(start: number): Promise<void> {
    this.#asked.add(start)
    try {
      let after = start - 1
      let isMore = true
      while (isMore && after < start + WINDOW - 1) {
        const page = await this.#ask(after, start + WINDOW - 1 - after)
        this.#put(page.items)
        after = page.items.at(-1)?.position ?? start + WINDOW // a page of large messages may be short
        isMore = page.items.length > 0
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#asked.delete(start)
    }
  }

  #lacks(start: number): boolean {
    const end = Math.min(start + WINDOW - 1, this.length)
    for (let position = start; position <= end; position += 1) {
      if (!this.#messages.has(position)) return true
    }
    return false
  }

  #put(items: readonly Message[]): void {
    const isMended = this.trouble !== null
    this.trouble = null
    if (items.length === 0 && !isMended) return
    for (const message of items) {
      if (message.position === null) continue
      this.#messages.set(message.position, message)
      this.#positions.set(message.id, message.position)
      const call = callId(message)
      if (call !== null) this.#results.set(call, message.position)
      if (message.kind === 'user') this.lastTurn = Math.max(this.lastTurn, message.position)
      this.length = Math.max(this.length, message.position)
    }
    this.#tell()
  }

  #fail(error: unknown): void {
    this.trouble = error instanceof Error ? error : new Error(String(error))
    this.#tell()
  }

  #tell(): void {
    this.#version += 1
    for (const listener of this.#listeners) listener()
  }
}

const windowOf = (position: number): number => Math.floor((position - 1) / WINDOW) * WINDOW + 1

/** The id of the tool call that a message answers; null for everything else. */
export function callId(message: Message): string | null {
  const content = message.content
  if (message.kind !== 'tool_result' || typeof content !== 'object' || content === null) return null
  const id = 'action_request_id' in content ? content.action_request_id : null
  return typeof id === 'string' ? id : null
}

/** The history of a run or of one of its branches, kept up to date for as long as it is shown. */
export function useHistory(runId: string, branchId: string | null, length: number): History {
  const [history, setHistory] = useState(() => openHistory(runId, branchId, length))
  const [shown, setShown] = useState(`${runId} ${branchId}`)
  const wanted = `${runId} ${branchId}`
  let current = history
  if (shown !== wanted) {
    current = openHistory(runId, branchId, length)
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
    if (isLive) void current.catchUp() // what was said while nobody listened
  }, [current, isLive])
  return current
}

function openHistory(runId: string, branchId: string | null, length: number): History {
  const ask: Ask = (after, limit) =>
    answerOf(
      GET('/api/sessions/{session_id}/messages', {
        params: { path: { session_id: runId }, query: { branch: branchId, after, limit } },
      }),
    )
  return new History(ask, length)
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
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  })
