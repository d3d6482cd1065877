// Why something needs a look, in words and tones.

import type { Schema } from '@/api/client'
import type { Tone } from './looks'

export type Signal = Schema['Signal']

/** In the order of cards, which have two columns: short words in the first. */
export const SIGNALS = [
  'stale',
  'failed_24h',
  'orphaned',
  'slow',
  'zombie',
  'escalated',
  'gate_failed',
  'blocked',
] as const satisfies readonly Signal[]

export const SIGNAL_WORDS: Record<Signal, string> = {
  stale: 'stale',
  failed_24h: 'failed or timed out',
  slow: 'running over 60m',
  gate_failed: 'gate failed',
  orphaned: 'orphaned',
  escalated: 'escalated',
  zombie: 'zombie',
  blocked: 'blocked show',
}

/** What a signal means, for those who meet the word for the first time. */
export const SIGNAL_SENTENCES: Record<Signal, string> = {
  stale: 'Runs whose process is gone, or that have been quiet for too long.',
  failed_24h: 'Runs that failed or timed out in the last 24 hours.',
  slow: 'Runs that have been running for more than 60 minutes.',
  gate_failed: 'Plays that their gate refused.',
  orphaned: 'Runs whose process is gone and that never produced anything.',
  escalated: 'Plays that cannot go on without a person.',
  zombie: 'Runs that ended and left locks or unfinished files behind.',
  blocked: 'Shows with a play that cannot go on without a person.',
}

export const SIGNAL_TONES: Record<Signal, Tone> = {
  stale: 'stale',
  failed_24h: 'danger',
  slow: 'warning',
  gate_failed: 'danger',
  orphaned: 'review',
  escalated: 'review',
  zombie: 'danger',
  blocked: 'review',
}

export const isSignal = (word: unknown): word is Signal => SIGNALS.some((signal) => signal === word)
