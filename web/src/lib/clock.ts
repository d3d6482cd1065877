// One clock for every number that ticks, so that a page of durations is one timer and they all agree. It is the clock of
// the studio: moments are told by it, and the machine of who looks may be minutes off.

import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
// Below that, an answer took its time, or the studio told whole seconds: nothing to mend.
const SECONDS_APART = 5
let ahead = 0 // of this machine's clock, in seconds
let here = timeOfStudio()
let heldAt: number | null = null // while nobody knows how things go on
let timer: ReturnType<typeof setInterval> | undefined

/** The time where the studio runs, in seconds; of now, or of a moment of this machine. */
export function timeOfStudio(milliseconds: number = Date.now()): number {
  return milliseconds / 1000 + ahead
}

/** Set the clock by the time that an answer carries, if it is off. */
export function setClock(header: string | null): void {
  const apart = Date.parse(header ?? '') / 1000 - Date.now() / 1000
  if (Math.abs(apart - ahead) > SECONDS_APART) ahead = Math.abs(apart) > SECONDS_APART ? apart : 0
}

/** Let what ticks stand still at a moment, because nothing is known of what came after it; null lets it go on. */
export function holdClock(at: number | null): void {
  if (at === heldAt) return
  heldAt = at
  tick()
}

function tick(): void {
  here = timeOfStudio()
  for (const tell of listeners) tell()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    here = timeOfStudio() // nothing ticked until now
    timer = setInterval(tick, 1000)
  }
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
  return useSyncExternalStore(subscribe, () => inSteps(heldAt ?? here, since))
}

/** The time, in the same steps, also while the studio is away. */
export function useNowAnyway(since: number): number {
  return useSyncExternalStore(subscribe, () => inSteps(here, since))
}

function inSteps(now: number, since: number | null): number {
  const from = since ?? 0
  const age = now - from
  const step = since === null || age < 60 ? 1 : age < 3600 ? 10 : 60
  return from + Math.floor(age / step) * step
}
