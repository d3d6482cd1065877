import type { PlayStatus, ShowFilter } from '@/api/shows'

// Written as keys, so that a new word does not compile until it has a place here.
export const FILTER_WORDS: Record<ShowFilter, string> = {
  active: 'Active',
  completed: 'Completed',
  aborted: 'Aborted',
  imported: 'Imported',
  unknown: 'Not imported',
}

export const isShowFilter = (word: unknown): word is ShowFilter =>
  typeof word === 'string' && Object.hasOwn(FILTER_WORDS, word)

/** Plays that cannot go on without a person, of all shows. */
export const NEEDS_YOU: readonly PlayStatus[] = ['gated', 'gate_failed', 'escalated', 'blocked']
