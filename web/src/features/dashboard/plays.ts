import type { PlayStatus } from '@/api/shows'

// A record, so that a word which is new on the server does not compile until it is here.
const STATUSES: Record<PlayStatus, true> = {
  pending: true,
  prepared: true,
  running: true,
  running_complete: true,
  gated: true,
  gate_failed: true,
  redoing: true,
  merged: true,
  escalated: true,
  blocked: true,
  aborted_after_finish: true,
}

export const isPlayStatus = (word: string): word is PlayStatus => Object.hasOwn(STATUSES, word)
