// The line to the server's feed. It comes back by itself, with the last number it heard, so that nothing is missed.

import type { Change } from './marks'

export type Connection =
  | { state: 'connecting'; tries: number }
  | { state: 'live'; at: number }
  | { state: 'catching_up'; events: number }
  | { state: 'offline'; tries: number; since: number } // ms

export type Heard = {
  /** The line is up. `isFirst`: nobody listened before, so what was read until now may be old. */
  opened: (isFirst: boolean) => void
  reload: (seq: number) => void
  change: (change: Change, seq: number, before: number) => void
  connection: (connection: Connection, tryAt: number | null) => void
  /** The server answered, but not with the feed: its reason has to be asked for. */
  refused: () => void
}

export type Source = Pick<EventSource, 'addEventListener' | 'close' | 'readyState' | 'onerror'>

const WAITS = [250, 500, 1000, 2000, 4000, 5000] // ms between tries, the last for all further ones
const LOOKS_APART = 300 // ms between looks at how much still comes of what was missed
const LOOKS = 30
const WORTH_TELLING = 25 // events: fewer are here before anybody could read that they come
const SILENT = 15_000 // ms: the server says something every five seconds, so nobody is there any more
const CLOSED = 2 // EventSource.CLOSED: the browser gives up for good on any answer that is not the feed

/** One EventSource after the other: the browser's own way to reconnect gives up on the first 503. */
export class Line {
  #source: Source | null = null
  #seq: number | null
  #tries = 0
  #since = Date.now()
  #heardAt = Date.now()
  #caughtUp = 0
  #isLive = false
  #looking: ReturnType<typeof setTimeout> | undefined
  #next: ReturnType<typeof setTimeout> | undefined
  readonly #heard: Heard
  readonly #make: (address: string) => Source

  constructor(
    heard: Heard,
    seq: number | null = null,
    make: (address: string) => Source = (address) => new EventSource(address),
  ) {
    this.#heard = heard
    this.#seq = seq
    this.#make = make
  }

  /** The number of the last change that was heard. */
  get seq(): number | null {
    return this.#seq
  }

  /** Try at once, however long the wait was to be. A line that is up, or is being tried, stays. */
  open(): void {
    if (this.#source !== null) return
    clearTimeout(this.#next)
    const isFirst = this.#seq === null
    const source = this.#make(isFirst ? '/api/events?beats=1' : `/api/events?after=${this.#seq}&beats=1`)
    this.#source = source
    const hear = (): void => {
      this.#heardAt = Date.now()
    }
    hear()
    for (const kind of ['hello', 'reload', 'change', 'beat']) source.addEventListener(kind, hear)
    source.addEventListener('hello', (event) => {
      this.#seq = Number(event.lastEventId)
      this.#tries = 0
      this.#heard.opened(isFirst)
      if (isFirst) this.#tellLive()
      else this.#catchUp()
    })
    source.addEventListener('reload', (event) => {
      this.#seq = Number(event.lastEventId)
      this.#heard.reload(this.#seq)
    })
    source.addEventListener('change', (event) => {
      const before = this.#seq ?? 0
      this.#seq = Number(event.lastEventId)
      this.#heard.change(JSON.parse(event.data) as Change, this.#seq, before)
      if (this.#looking !== undefined) this.#count()
    })
    source.onerror = () => this.#lose(source)
  }

  /** Begin anew if nothing was heard for long: the machine slept, or the other end is gone without a word. */
  look(): void {
    if (this.#source !== null && Date.now() - this.#heardAt > SILENT) this.#lose(this.#source)
  }

  close(): void {
    this.#source?.close()
    this.#source = null
    clearTimeout(this.#next)
    clearTimeout(this.#looking)
  }

  // What was missed comes first, and without a mark at its end: it is over when few come at a time. Where many are
  // written all the time nobody can tell, so there is an end to it anyway.
  #catchUp(): void {
    this.#caughtUp = 0
    let before = 0
    let looks = 0
    const look = (): void => {
      const isOver = this.#caughtUp - before < WORTH_TELLING || looks >= LOOKS
      before = this.#caughtUp
      looks += 1
      if (isOver) this.#tellLive()
      this.#looking = isOver ? undefined : setTimeout(look, LOOKS_APART)
    }
    look()
    this.#looking = setTimeout(look, LOOKS_APART)
  }

  #count(): void {
    this.#caughtUp += 1
    if (this.#caughtUp % WORTH_TELLING === 0) this.#tellCatchingUp()
  }

  #tellCatchingUp(): void {
    this.#isLive = false
    this.#heard.connection({ state: 'catching_up', events: this.#caughtUp }, null)
  }

  #tellLive(): void {
    if (this.#isLive) return
    this.#isLive = true
    this.#heard.connection({ state: 'live', at: Date.now() }, null)
  }

  #lose(source: Source): void {
    if (source !== this.#source) return
    if (source.readyState === CLOSED) this.#heard.refused()
    source.close()
    this.#source = null
    clearTimeout(this.#looking)
    this.#looking = undefined
    if (this.#tries === 0) this.#since = Date.now()
    this.#tries += 1
    this.#isLive = false
    const wait = WAITS[Math.min(this.#tries, WAITS.length) - 1] ?? 0
    this.#heard.connection({ state: 'offline', tries: this.#tries, since: this.#since }, Date.now() + wait)
    this.#next = setTimeout(() => this.open(), wait)
  }
}
