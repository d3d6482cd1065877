import type { Concern, Signal } from '@/api/dashboard'
import { plainLine } from '@/lib/plain'

// The reasons that speak of a signal, the most telling first. Of any other signal the first reason does.
const TELLING: Partial<Record<Signal, readonly string[]>> = {
  stale: ['run.health.process_dead', 'run.health.quiet_too_long'],
  orphaned: ['run.health.no_output'],
  slow: ['run.health.slow'],
  zombie: ['run.health.stale_locks', 'run.health.temp_files'],
}

/** Why a thing is listed, in one sentence: the reason that speaks of its first signal. */
export function reasonOf({ state, signals }: Pick<Concern, 'state' | 'signals'>): string {
  const [signal] = signals
  const wanted = (signal === undefined ? undefined : TELLING[signal]) ?? []
  const told = wanted.map((code) => state.reasons.find((reason) => reason.code === code))
  const reason = told.find((one) => one !== undefined) ?? state.reasons[0]
  return plainLine(reason?.sentence ?? '')
}
