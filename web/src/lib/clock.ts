// One clock for every number that ticks, so that a page of durations is one timer and they all agree.

import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let now = Date.now() / 1000
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now() / 1000
    for (const tell of listeners) tell()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/**
 * The time, in steps: a length below a minute ticks each second, below an hour each 10 s, else each minute. The steps
 * are those of the length, so that it changes when it does, and not up to a minute later.
 */
export function useNow(since: number | null = null): number {
  return useSyncExternalStore(subscribe, () => {
    const from = since ?? 0
    const age = now - from
    const step = since === null || age < 60 ? 1 : age < 3600 ? 10 : 60
    return from + Math.floor(age / step) * step
  })
}
