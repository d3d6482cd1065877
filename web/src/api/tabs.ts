// Many tabs, one line: a browser opens six connections to a server, and each feed would hold one of them.

import type { Connection } from './line'
import type { Change } from './marks'

/** What the tab that leads tells the others, and what they ask of it. */
export type Word =
  | { kind: 'change'; change: Change; seq: number; before: number }
  | { kind: 'reload'; seq: number }
  | { kind: 'opened' }
  | { kind: 'connection'; connection: Connection; tryAt: number | null; seq: number | null }
  | { kind: 'who leads' }
  | { kind: 'try now' }
  | { kind: 'look' }

const NAME = 'lionstudio-live'

/** Lead as soon as no other tab does, until the page goes. Without locks (plain HTTP from afar) every tab leads itself. */
export function lead(begin: () => void, signal: AbortSignal): void {
  if (!('locks' in navigator)) {
    begin()
    return
  }
  const held = () =>
    new Promise<void>((release) => {
      if (signal.aborted) return release()
      signal.addEventListener('abort', () => release())
      begin()
    })
  navigator.locks.request(NAME, { signal }, held).catch(() => undefined) // given up before its turn came
}

/** How tabs talk to each other; `hear` gets what the others say. */
export function openChannel(hear: (word: Word) => void): { say: (word: Word) => void; close: () => void } {
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = (event: MessageEvent<Word>) => hear(event.data)
  return { say: (word) => channel.postMessage(word), close: () => channel.close() }
}
