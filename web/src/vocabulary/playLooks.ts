// How the state of a play looks: a filled pill, then outlined badges. The server says which words (R79 to R82).

import type { Play, PlayStatus } from '@/api/shows'
import type { IconName } from '@/ui/Icon'
import type { Part } from '@/ui/StackBar'
import { lookOf, type Tone } from './looks'

type Badges = Play['badges']
type Mark = { tone: Tone; icon: IconName }

export const PILL_MARKS: Record<Badges['pill'], Mark> = {
  pending: { tone: 'warning', icon: 'pending' },
  prepared: { tone: 'warning', icon: 'clock' },
  running: { tone: 'info', icon: 'running' },
  'awaiting gate': { tone: 'warning', icon: 'gate' },
  completed: { tone: 'success', icon: 'completed' },
  failed: { tone: 'danger', icon: 'failed' },
  blocked: { tone: 'warning', icon: 'blocked' },
  aborted: { tone: 'neutral', icon: 'aborted' },
  skipped: { tone: 'neutral', icon: 'cancelled' },
}
export const GATE_MARKS: Record<NonNullable<Badges['gate']>, Mark> = {
  passed: { tone: 'success', icon: 'gate_passed' },
  'gate failed': { tone: 'danger', icon: 'gate_failed' },
  'gate skipped': { tone: 'neutral', icon: 'skip' },
  redo: { tone: 'info', icon: 'redo' },
}
export const INTEGRATION_MARKS: Record<NonNullable<Badges['integration']>, Mark> = {
  merged: { tone: 'success', icon: 'merge' },
  local: { tone: 'neutral', icon: 'branch' },
  'needs you': { tone: 'review', icon: 'person' },
}

/** The pill of a play, and the facts it must not hide: a play at work is as well as its run. */
export function pillOf(play: Pick<Play, 'badges' | 'state' | 'session'>): Mark & { facts: string[] } {
  const mark = PILL_MARKS[play.badges.pill]
  const isWell = play.state.health === 'ok' || play.state.health === 'running'
  if (play.badges.pill !== 'running' || isWell) return { ...mark, facts: [] }
  const { tone, icon } = lookOf(play.state)
  return { tone, icon, facts: play.session?.chain.slice(1, 3) ?? [] }
}

export const isWorking = (play: Pick<Play, 'badges'>): boolean => play.badges.pill === 'running'

// In the order of the bar: what is done, what works, what went wrong, what waits.
const PROGRESS: readonly { label: string; tone: Tone; of: readonly PlayStatus[] }[] = [
  { label: 'merged', tone: 'success', of: ['merged'] },
  { label: 'running', tone: 'info', of: ['running', 'redoing'] },
  { label: 'failed', tone: 'danger', of: ['gate_failed', 'escalated'] },
  { label: 'awaiting gate', tone: 'review', of: ['running_complete', 'gated'] },
  { label: 'blocked', tone: 'warning', of: ['blocked'] },
  { label: 'aborted', tone: 'neutral', of: ['aborted_after_finish'] },
  { label: 'pending', tone: 'neutral', of: ['pending', 'prepared'] },
]

/** How far the plays of a show have come, as parts of one bar. */
export function progressOf(counts: Partial<Record<PlayStatus, number>>): Part[] {
  return PROGRESS.map(({ label, tone, of }) => ({
    label,
    tone,
    count: of.reduce((sum, status) => sum + (counts[status] ?? 0), 0),
  }))
}
