// How each word looks: its tone, its icon, and whether it is filled. A new word does not compile until it has a look.

import type { Schema } from '@/api/client'
import type { IconName } from '@/ui/Icon'

export type Tone = 'success' | 'info' | 'warning' | 'stale' | 'danger' | 'review' | 'idle' | 'neutral'

export type Look = { tone: Tone; icon: IconName; quiet: boolean }
type State = Schema['StateOut']

const look = (tone: Tone, icon: IconName, quiet = false): Look => ({ tone, icon, quiet })

// Calm by default: fills are for what runs, waits or went wrong.
const OUTCOME_LOOKS: Record<State['outcome'], Look> = {
  none: look('info', 'running'),
  completed: look('success', 'completed', true),
  merged: look('success', 'completed', true),
  failed: look('danger', 'failed'),
  timed_out: look('warning', 'timed_out'),
  aborted: look('neutral', 'aborted', true),
  cancelled: look('neutral', 'cancelled', true),
  gate_failed: look('danger', 'gate_failed'),
  escalated: look('review', 'escalated'),
  skipped: look('neutral', 'cancelled', true),
}
const HEALTH_LOOKS = {
  ok: null,
  running: null,
  idle: look('info', 'idle', true), // the paler tone is for bars: a mark alone would be hard to see
  degraded: look('danger', 'zombie'),
  stalled: look('warning', 'unresponsive'),
  orphaned: look('review', 'orphaned'),
  process_dead: look('stale', 'process_dead'),
} satisfies Record<State['health'], Look | null>
const UNSEEN = 'run.health.process_unknown' // a process that is alive makes a run unresponsive, never stale
const LIFECYCLE_LOOKS: Record<State['lifecycle'], Look | null> = {
  pending: look('neutral', 'clock', true),
  running: null,
  awaiting_gate: look('info', 'gate'),
  blocked: look('review', 'blocked'), // of a show: a person has to decide. A play has a pill of its own.
  ended: null,
  archived: look('neutral', 'file', true),
  legacy: look('neutral', 'legacy', true),
}

export const UNKNOWN_LOOK = look('neutral', 'legacy', true)
export const TEAM_LOOKS: Record<Schema['TeamStatus'], Look> = {
  active: look('success', 'pulse', true),
  archived: look('neutral', 'file', true),
}

/** The look of a state. Health speaks first, because it is what an operator can act on. */
export function lookOf(state: State): Look {
  if (state.outcome === 'escalated') return OUTCOME_LOOKS.escalated
  // Only what has ended leaves files behind. A show that goes on is degraded because a gate refused one of its plays.
  if (state.health === 'degraded' && state.lifecycle !== 'ended') {
    return LIFECYCLE_LOOKS[state.lifecycle] ?? OUTCOME_LOOKS.gate_failed
  }
  // Nobody saw its process die, so it is only stalled; its health is stale all the same, and that has one colour.
  if (state.health === 'stalled' && state.reasons.some((reason) => reason.code === UNSEEN)) {
    return HEALTH_LOOKS.process_dead
  }
  return HEALTH_LOOKS[state.health] ?? LIFECYCLE_LOOKS[state.lifecycle] ?? OUTCOME_LOOKS[state.outcome]
}

export const HEALTH_TONES: Record<Schema['Health'], Tone> = {
  healthy: 'info',
  idle: 'idle',
  unresponsive: 'warning',
  stale: 'stale',
  orphaned: 'review',
  zombie: 'danger',
}
export const HEALTH_WORDS: Record<Schema['Health'], string> = {
  healthy: 'Healthy',
  idle: 'Idle',
  unresponsive: 'Unresponsive',
  stale: 'Stale',
  orphaned: 'Orphaned',
  zombie: 'Zombie',
}
export const STATUS_WORDS: Record<Schema['SessionStatus'], string> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  timed_out: 'Timed out',
  aborted: 'Aborted',
  cancelled: 'Cancelled',
}
/** A stored status alone, as histories keep it. */
export const STATUS_LOOKS: Record<Schema['SessionStatus'], Look> = {
  running: OUTCOME_LOOKS.none,
  completed: OUTCOME_LOOKS.completed,
  failed: OUTCOME_LOOKS.failed,
  timed_out: OUTCOME_LOOKS.timed_out,
  aborted: OUTCOME_LOOKS.aborted,
  cancelled: OUTCOME_LOOKS.cancelled,
}
export const STATUS_TONES: Record<Schema['SessionStatus'], Tone> = {
  running: 'info',
  completed: 'success',
  failed: 'danger',
  timed_out: 'warning',
  aborted: 'neutral',
  cancelled: 'neutral',
}
export const KIND_WORDS: Record<Schema['InvocationKind'], string> = {
  agent: 'agent',
  play: 'play',
  flow: 'flow',
  fanout: 'fanout',
  'show-play': 'show-play',
  command: 'command',
}
export const SOURCE_WORDS: Record<Schema['SourceKind'], string> = {
  live: 'recorded live',
  imported_fs: 'imported from folders',
  imported_db: 'imported from a database',
  imported_claude: 'Claude Code',
  imported_codex: 'Codex',
  demo: 'demo',
}
export const VIEW_WORDS: Record<Schema['View'], string> = {
  waiting: 'Waiting for you',
  needs_review: 'Needs review',
  failed_24h: 'Failed 24h',
  slow: 'Running over 60m',
  over_60m: 'Took over 60m',
  ended_24h: 'Ended 24h',
  legacy: 'Legacy',
}
export const SORT_WORDS: Record<Schema['Sort'], string> = {
  active: 'Running first, then newest',
  created: 'Newest first',
  ended: 'Last ended first',
}
