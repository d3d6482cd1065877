// What an event of the audit log says, in a line and a second one. Details differ by action and come from any version,
// so nothing is taken for granted about them.

import type { AdminEvent } from '@/api/admin'
import { countOf, formatBytes, shortId } from '@/lib/numbers'
import { formatDuration } from '@/lib/time'
import type { IconName } from '@/ui/Icon'

export type Description = { icon: IconName; title: string; says: string }
type Details = AdminEvent['details']
type Describe = (details: Details) => Omit<Description, 'icon'>

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const size = (value: unknown): string | null => {
  const bytes = number(value)
  return bytes === null ? null : formatBytes(bytes)
}
const join = (...parts: (string | null | false)[]): string => parts.filter(Boolean).join(' · ')
const quoted = (value: unknown): string | null => {
  const said = text(value)
  return said === null ? null : `“${said}”`
}
const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined

const NEEDED_SOMEBODY = ['unresponsive', 'stale', 'orphaned', 'zombie']

const ACTIONS: Record<string, { icon: IconName; word: string; describe: Describe }> = {
  classify: {
    icon: 'pulse',
    word: 'Classified',
    describe: (details) => {
      const before = text(details.previous_health)
      // Only what runs is quiet. Of what has ended it says nothing that it is healthy, and that its process is gone.
      const hasEnded = details.health === 'healthy' && number(details.idle_seconds) === null
      if (hasEnded && before !== null && NEEDED_SOMEBODY.includes(before))
        return { title: 'No longer needs anyone', says: `was ${before}` }
      const says = join(
        before === null ? 'first look' : `was ${before}`,
        number(details.idle_seconds) !== null && `quiet ${formatDuration(number(details.idle_seconds) ?? 0)}`,
        details.process_alive === false ? 'process gone' : details.process_alive === true && 'process alive',
      )
      return { title: `Classified as ${text(details.health) ?? 'unknown'}`, says }
    },
  },
  transition: {
    icon: 'failed',
    word: 'Transitioned',
    describe: (details) => ({
      title: `Transitioned to ${text(details.target_status) ?? 'ended'}`,
      says: join(details.forced === true && 'forced', text(details.reason), quoted(details.note)),
    }),
  },
  kill: {
    icon: 'process_dead',
    word: 'Killed',
    describe: (details) => ({
      title: `Process ${number(details.pid) ?? ''} killed`.replace('  ', ' '),
      says: join(list(details.signals).join(', '), text(details.sentence)),
    }),
  },
  prune: {
    icon: 'zombie',
    word: 'Pruned',
    describe: (details) => ({
      title: `Pruned ${countOf(number(details.sessions) ?? 0, 'run')}`,
      says: join(
        number(details.keep_days) !== null && `older than ${countOf(number(details.keep_days) ?? 0, 'day')}`,
        number(details.messages) !== null && countOf(number(details.messages) ?? 0, 'message'),
        (number(details.kept) ?? 0) > 0 && `${number(details.kept)} kept`,
        text(details.archive),
        quoted(details.reason),
      ),
    }),
  },
  cleanup: {
    icon: 'zombie',
    word: 'Cleaned up',
    describe: (details) => ({
      title: `Removed ${countOf(list(details.files).length + (number(details.files_left_out) ?? 0), 'leftover')}`,
      says: join(
        size(details.bytes),
        list(details.kept).length > 0 && `${list(details.kept).length} kept`,
        text(details.health) !== null && `${text(details.health)} now`,
      ),
    }),
  },
  repair: {
    icon: 'tool',
    word: 'Repaired',
    describe: (details) => ({
      title: 'Repaired',
      says: join(
        ...list(details.steps).map((step) => text(field(step, 'sentence'))),
        `${text(details.previous_health) ?? 'unknown'} to ${text(details.health) ?? 'unknown'}`,
      ),
    }),
  },
  checkpoint: {
    icon: 'database',
    word: 'Checkpoint',
    describe: (details) => ({
      title: details.busy === true ? 'Checkpoint was in somebody’s way' : 'Checkpoint completed',
      says: join(
        text(details.mode),
        number(details.pages_moved) !== null &&
          `${countOf(number(details.pages_moved) ?? 0, 'page')} written back`,
        size(details.log_size_after) !== null && `WAL ${size(details.log_size_after)}`,
      ),
    }),
  },
  vacuum: {
    icon: 'database',
    word: 'Vacuum',
    describe: (details) => {
      const before = size(field(details.before, 'size'))
      const after = size(field(details.after, 'size'))
      return {
        title: 'Vacuum completed',
        says: before !== null && after !== null ? `${before} to ${after}` : '',
      }
    },
  },
  export: {
    icon: 'export',
    word: 'Exported',
    describe: (details) => ({
      title: `Exported ${text(details.what) ?? 'runs'}`,
      says: join(
        list(details.session_ids).length > 0 && countOf(list(details.session_ids).length, 'run'),
        text(details.file_name),
      ),
    }),
  },
  backfill_legacy: {
    icon: 'legacy',
    word: 'Backfilled',
    describe: (details) => ({
      title: `Backfilled ${countOf(number(details.sessions) ?? 0, 'legacy run')}`,
      says: 'They are completed now.',
    }),
  },
  gate: {
    icon: 'gate',
    word: 'Gate',
    describe: (details) => ({
      title: `Gate ${details.passed === true ? 'passed' : 'refused'} ${text(details.play) ?? 'a play'}`,
      says: join(text(details.topic), text(details.feedback), quoted(details.note)),
    }),
  },
  restore: {
    icon: 'database',
    word: 'Restored',
    describe: (details) => ({ title: 'Restored a backup', says: text(details.file) ?? '' }),
  },
}

/** The actions that can be asked for, with their words. */
export const ACTION_WORDS: Record<string, string> = Object.fromEntries(
  Object.entries(ACTIONS).map(([action, { word }]) => [action, word]),
)

export function describeEvent(event: AdminEvent): Description {
  const known = ACTIONS[event.action]
  if (known === undefined) return { icon: 'info', title: event.action.replaceAll('_', ' '), says: '' }
  return { icon: known.icon, ...known.describe(event.details) }
}

/** Whom it was done to: one run, or the first of several. */
export function targetOf(event: AdminEvent): { id: string; label: string; isRun: boolean } | null {
  if (event.target_id === null) return null
  return { id: event.target_id, label: shortId(event.target_id), isRun: event.action !== 'gate' }
}
