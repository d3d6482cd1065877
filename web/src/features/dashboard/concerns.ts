import type { Concern } from '@/api/dashboard'
import { plainLine } from '@/lib/plain'

/** Why a thing is listed, in one sentence: the reason that speaks of its first signal. */
export function reasonOf({ state, signals }: Pick<Concern, 'state' | 'signals'>): string {
  // A run that is only slow is healthy otherwise; its last reason is the one that says how long it has been running.
  const isOnlySlow = signals.length === 1 && signals[0] === 'slow'
  const told = isOnlySlow ? state.reasons.at(-1) : state.reasons[0]
  return plainLine(told?.sentence ?? '')
}
