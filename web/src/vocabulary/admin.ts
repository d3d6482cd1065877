// The words of operators: why a run is ended, why that is refused, and what was done.

import type { Schema } from '@/api/client'
import type { IconName } from '@/ui/Icon'
import type { Tone } from './looks'

export type EndReason = Schema['EndReason']
export type EndStatus = Schema['TransitionIn']['target_status']

/** What an operator can give as the reason for ending a run. The codes are those of the registry. */
export const END_REASON_WORDS: Record<EndReason, string> = {
  'run.health.process_dead': 'Process gone',
  'run.health.quiet_too_long': 'Quiet for too long, stale heartbeat',
  'run.health.no_output': 'No output',
  'run.delivery.missing': 'Missing artifacts',
  'run.health.process_unknown': 'Process cannot be seen',
  'run.ended.by_operator': 'Ended by an operator, see the note',
}
const END_REASONS = Object.keys(END_REASON_WORDS)

export const isEndReason = (code: string): code is EndReason => END_REASONS.includes(code)

/** What an operator may make of a run, in the order in which it is offered. */
export const END_STATUSES = ['failed', 'aborted', 'cancelled'] as const

const REFUSAL_WORDS: Record<string, string> = {
  session_is_healthy: 'Healthy',
  process_is_alive: 'Process alive',
  illegal_transition: 'Already final',
  session_not_found: 'Not found',
  session_is_running: 'Still running',
  session_is_needed: 'Still needed',
  cannot_clean_up: 'Not to be touched',
  cannot_repair: 'Not broken',
}

/** A refusal in two words; its sentence says the rest. */
export const refusalWord = (code: string): string => REFUSAL_WORDS[code] ?? 'Refused'

type HealthLook = { tone: Tone; icon: IconName; says: string }

/** How each health stands in the counts of the console (R152), with its rule in a few words. */
export const HEALTH_COUNT_LOOKS: Record<Schema['Health'], HealthLook> = {
  healthy: { tone: 'success', icon: 'pulse', says: '' },
  idle: { tone: 'info', icon: 'idle', says: 'alive, quiet over 1h' },
  unresponsive: { tone: 'warning', icon: 'unresponsive', says: 'alive, quiet over its limit' },
  stale: { tone: 'stale', icon: 'process_dead', says: 'process gone, or unseen and quiet' },
  orphaned: { tone: 'review', icon: 'orphaned', says: 'process gone, no output' },
  zombie: { tone: 'danger', icon: 'zombie', says: 'ended, left locks or files' },
}

export const WORKTREE_LOOKS: Record<Schema['WorktreeStatus'], { tone: Tone; says: string }> = {
  active: { tone: 'info', says: 'active' },
  dirty: { tone: 'warning', says: 'uncommitted changes' },
  stale: { tone: 'stale', says: 'stale' },
  unknown: { tone: 'neutral', says: 'unknown' },
}

/** Folders by the names that the server gives them. */
export const FOLDER_WORDS: Record<string, string> = {
  state_db: 'Database',
  runs_dir: 'Artifacts',
  teams_dir: 'Teams',
  shows_dir: 'Shows',
  worktrees_dir: 'Worktrees',
  agents_dir: 'Agents',
  playbooks_dir: 'Playbooks',
  spool_dir: 'Spool',
  backups_dir: 'Backups',
}
