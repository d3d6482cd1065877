// What was said, as it is read: in windows where somebody looks, at its end as it grows, and anew where it changes.

import { KeptMessages } from './keptMessages'
import type { Message } from './runs'

const WINDOW = 50 // messages that are asked for at once
const CATCH_UP = 200
const FAR_BEHIND = 400 // more new messages than this are counted, and read when somebody looks at them
const READ_EVERY = 100 // ms between two looks at what is new, while it does not stop to change
const MOST_KEPT = 3_000 // messages; those far from where somebody looks are forgotten, and read again

export type Range = readonly [from: number, to: number]
type Page = { items: Message[]; next_cursor?: string | null }
export type Ask = (after: number, limit: number) => Promise<Page>

const END = 0 // where a window would begin; stands for what comes after the last one

/** One order of messages: a branch with all it inherited, or everything a run said. Positions have no gaps. */
export class History {
  length: number
  #version = 0
  #asks = 0
  #isReading = false
  #readAt = 0
  #isEndDue = false
  #shown = new Set<number>() // windows that somebody looks at
  readonly #ask: Ask
  readonly #kept = new KeptMessages()
  readonly #asked = new Set<number>() // windows on their way
  readonly #again = new Set<number>() // windows on their way that may be old when they come
  readonly #changed = new Set<number>() // positions that were overwritten
  readonly #troubles = new Map<number, Error>() // by window
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

  /** Why something that is looked at could not be read. */
  get trouble(): Error | null {
    return this.#troubles.values().next().value ?? null
  }

  /** How many messages are here. */
  get size(): number {
    return this.#kept.size
  }

  /** The last position at which somebody told the agent something: calls before it are not waited for any more. */
  get lastTurn(): number {
    return this.#kept.lastTurn
  }

  at(position: number): Message | undefined {
    return this.#kept.at(position)
  }

  /** The result of a tool call, if it has been read. */
  resultOf(call: Message): Message | undefined {
    return this.#kept.resultOf(call)
  }

  /** The position of the call that shows this result; undefined if the result has to be shown by itself. */
  callOf(result: Message): number | undefined {
    return this.#kept.callOf(result)
  }

  /** Read what is not here yet of these positions, and keep it up to date. */
  need(ranges: readonly Range[]): void {
    this.#shown = new Set()
    for (const [from, to] of ranges) {
      const last = Math.min(to, this.length)
      for (let start = windowOf(Math.max(1, from)); start <= last; start += WINDOW) this.#shown.add(start)
    }
    for (const start of this.#troubles.keys()) {
      if (start !== END && !this.#shown.has(start)) this.#troubles.delete(start)
    }
    this.#readLacking()
  }

  /** There may be this many by now. */
  grow(length: number): void {
    if (length <= this.length) return
    if (length - this.length > FAR_BEHIND) {
      this.length = length
      this.#tell()
    } else this.#readEnd()
  }

  /** A message was stored: a new one, or a known one that was overwritten in place. */
  changed(id: string): void {
    const position = this.#kept.positionOf(id)
    if (position === undefined) this.#readEnd()
    else {
      this.#changed.add(position)
      void this.#readOn()
    }
  }

  /** Somebody listens again: read what is new, and what could not be read before. */
  catchUp(): void {
    this.#readLacking()
    this.#readEnd()
  }

  /** Nobody knows what changed: read again what is looked at, and what is new. The rest is read when it is needed. */
  refresh(): void {
    this.#forget(0)
    for (const start of this.#asked) this.#again.add(start)
    for (const start of this.#shown) if (!this.#asked.has(start)) void this.#read(start)
    this.#readEnd()
  }

  #readLacking(): void {
    for (const start of this.#shown) {
      if (!this.#asked.has(start) && this.#lacks(start)) void this.#read(start)
    }
  }

  #readEnd(): void {
    this.#isEndDue = true
    void this.#readOn()
  }

  /** Read what is new and what was overwritten, one question at a time. Asked for while it reads, it reads once more. */
  async #readOn(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isEndDue || this.#changed.size > 0) {
        const wait = this.#readAt + READ_EVERY - Date.now()
        if (wait > 0) await pause(wait)
        this.#readAt = Date.now()
        if (this.#changed.size > 0) await this.#readChanged()
        if (this.#isEndDue) await this.#readNew()
        this.#mended(END)
      }
    } catch (error) {
      this.#fail(END, error)
    } finally {
      this.#isReading = false
    }
  }

  async #readNew(): Promise<void> {
    let isMore = true
    while (isMore) {
      this.#isEndDue = false
      try {
        isMore = Boolean((await this.#put(this.length, CATCH_UP)).next_cursor)
      } catch (error) {
        this.#isEndDue = true // whoever reads on next begins with it
        throw error
      }
    }
  }

  /** Those that stand close together are one question. */
  async #readChanged(): Promise<void> {
    const first = Math.min(...this.#changed)
    const stretch = [...this.#changed].filter((position) => position < first + WINDOW)
    for (const position of stretch) this.#changed.delete(position)
    try {
      const { items } = await this.#put(first - 1, Math.max(...stretch) - first + 1)
      const last = items.at(-1)?.position ?? Number.POSITIVE_INFINITY // a page of large messages may be short
      for (const position of stretch) if (position > last) this.#changed.add(position)
    } catch (error) {
      for (const position of stretch) this.#changed.add(position)
      throw error
    }
  }

  async #read(start: number): Promise<void> {
    this.#asked.add(start)
    try {
      do {
        this.#again.delete(start)
        let after = start - 1
        while (after < start + WINDOW - 1) {
          const { items } = await this.#put(after, start + WINDOW - 1 - after)
          after = items.at(-1)?.position ?? start + WINDOW // a page of large messages may be short
        }
      } while (this.#again.has(start))
      this.#mended(start)
    } catch (error) {
      this.#fail(start, error)
    } finally {
      this.#asked.delete(start)
      this.#again.delete(start)
    }
  }

  #lacks(start: number): boolean {
    const end = Math.min(start + WINDOW - 1, this.length)
    for (let position = start; position <= end; position += 1) {
      if (this.at(position) === undefined) return true
    }
    return false
  }

  /** Ask, and keep the answer, but for what a later question was answered already. */
  async #put(after: number, limit: number): Promise<Page> {
    this.#asks += 1
    const asked = this.#asks
    const page = await this.#ask(after, limit)
    for (const message of page.items) {
      this.#kept.put(message, asked)
      this.length = Math.max(this.length, message.position ?? 0)
    }
    if (this.size > MOST_KEPT) this.#forget(MOST_KEPT / 2)
    if (page.items.length > 0) this.#tell()
    return page
  }

  /** Forget what is far from where somebody looks. */
  #forget(left: number): void {
    const first = Math.min(...this.#shown)
    const last = Math.max(...this.#shown)
    this.#kept.forget(left, (position) =>
      this.#shown.has(windowOf(position)) ? 0 : 1 + Math.max(first - position, position - last, 0),
    )
  }

  #mended(start: number): void {
    if (this.#troubles.delete(start)) this.#tell()
  }

  #fail(start: number, error: unknown): void {
    this.#troubles.set(start, error instanceof Error ? error : new Error(String(error)))
    this.#tell()
  }

  #tell(): void {
    this.#version += 1
    for (const listener of this.#listeners) listener()
  }
}

const pause = (time: number): Promise<void> => new Promise((done) => setTimeout(done, time))

const windowOf = (position: number): number => Math.floor((position - 1) / WINDOW) * WINDOW + 1
