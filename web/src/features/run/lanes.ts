// The timeline of a run: from when to when it goes, where a moment stands in it, and in which order branches are drawn.

import type { Branch, RunInFull, Span } from '@/api/runs'
import { formatDuration } from '@/lib/time'
import { growTree } from '@/vocabulary/branches'

/** `isSilent`: nobody said that it ended, it was only never heard again. */
export type Range = { from: number; to: number; isNow: boolean; isSilent: boolean }
/** `rowsUp`: how many rows above it stands what it was forked from; null for what was not forked. */
export type Lane = { branch: Branch; depth: number; rowsUp: number | null }
/** Something on a lane that one can point at and go to. */
export type Mark = {
  kind: Span['kind'] | 'error'
  from: number
  to: number
  position: number
  isOpen: boolean
  says: string
}

const LEAST = 1 // second: a run that was over at once has a width, too

/** A run that does something goes on until now; one that does nothing any more ended with its last sign of life. */
export function rangeOf(run: RunInFull, now: number): Range {
  const from = run.started_at ?? run.created_at
  const heard = Math.max(run.last_message_at ?? from, run.evidence.heartbeat_at ?? from)
  const isNow = run.activity !== null
  const to = isNow ? Math.max(now, heard) : Math.max(run.ended_at ?? heard, heard)
  return { from, to: Math.max(to, from + LEAST), isNow, isSilent: run.status === 'running' && !isNow }
}

/** Where a moment stands in the range, in percent. */
export function placeOf(at: number, range: Range): number {
  const share = (at - range.from) / (range.to - range.from)
  return Math.round(Math.min(1, Math.max(0, share)) * 100_000) / 1000
}

/** Branches as a tree: each one below what it was forked from. */
export function lanesOf(branches: readonly Branch[]): Lane[] {
  const limbs = growTree(branches)
  const rows = new Map(limbs.map((limb, row) => [limb.branch.id, row]))
  return limbs.map(({ branch, depth, parent }, row) => ({
    branch,
    depth,
    rowsUp: parent === null ? null : row - (rows.get(parent.id) ?? row),
  }))
}

const BUSY_WORDS: Record<Span['kind'], string> = {
  human: 'waited for a person',
  tool: 'tool',
  model: 'model',
  unknown: 'unknown',
}

/** What happened in one branch: its closed spans, what it waits for now, and the errors of its tools, by time. */
export function marksOf(branch: Branch, spans: readonly Span[], run: RunInFull, range: Range): Mark[] {
  const marks: Mark[] = spans.map((span) => ({
    kind: span.kind,
    from: span.from_at,
    to: span.to_at,
    position: span.position,
    isOpen: false,
    says: `${span.tool ?? BUSY_WORDS[span.kind]} ${formatDuration(span.to_at - span.from_at)}`,
  }))
  const { activity } = branch
  if (activity !== null && activity.kind !== 'unknown' && activity.since !== null)
    marks.push({
      kind: activity.kind,
      from: activity.since,
      to: Math.max(range.to, activity.since),
      position: branch.history_length,
      isOpen: true,
      says: range.isNow
        ? `${openWord(activity.kind, activity.tool)} for ${formatDuration(range.to - activity.since)}`
        : `${activity.tool ?? BUSY_WORDS[activity.kind]} never answered`,
    })
  marks.push(...(failuresIn(run).get(branch.id) ?? []))
  return marks.sort((one, other) => one.from - other.from)
}

const failuresOf = new WeakMap<RunInFull['tool_errors'], Map<string, Mark[]>>()

/** The errors by their branch: sorted once for all lanes, which are drawn again each second. */
function failuresIn(run: RunInFull): Map<string, Mark[]> {
  const known = failuresOf.get(run.tool_errors)
  if (known !== undefined) return known
  const found = new Map<string, Mark[]>()
  for (const errors of run.tool_errors)
    for (const { at, place } of errors.latest) {
      if (place === null) continue
      const says = `${errors.tool ?? 'tool'} failed: ${errors.sentence}`
      const mark: Mark = { kind: 'error', from: at, to: at, position: place.position, isOpen: false, says }
      const others = found.get(place.branch_id)
      if (others === undefined) found.set(place.branch_id, [mark])
      else others.push(mark)
    }
  failuresOf.set(run.tool_errors, found)
  return found
}

const openWord = (kind: Span['kind'], tool: string | null): string =>
  kind === 'human'
    ? 'waiting for you'
    : kind === 'tool'
      ? `running ${tool ?? 'a tool'}`
      : 'waiting for the model'

/** The mark nearest to a place in percent; errors win, because they are small. */
export function nearest(marks: readonly Mark[], percent: number, range: Range, reach: number): number {
  let best = -1
  let least = Number.POSITIVE_INFINITY
  for (const [index, mark] of marks.entries()) {
    const from = placeOf(mark.from, range)
    const to = placeOf(mark.to, range)
    const away = percent < from ? from - percent : percent > to ? percent - to : 0
    const distance = mark.kind === 'error' ? away - reach : away
    if (away <= reach && distance < least) {
      best = index
      least = distance
    }
  }
  return best
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]
const MOST_TICKS = 6

/** Round moments to write under the lanes. What follows the last of them is left to the words at the end. */
export function ticksOf(range: Range): { at: number; step: number }[] {
  const seconds = range.to - range.from
  const step =
    STEPS.find((one) => seconds / one <= MOST_TICKS) ?? Math.ceil(seconds / MOST_TICKS / 86_400) * 86_400
  const offset = new Date(range.from * 1000).getTimezoneOffset() * 60
  const first = Math.ceil((range.from - offset) / step) * step + offset
  const ticks: { at: number; step: number }[] = []
  const last = range.to - seconds / (range.isSilent ? 4 : 12)
  for (let at = first; at < last; at += step) ticks.push({ at, step })
  return ticks
}
