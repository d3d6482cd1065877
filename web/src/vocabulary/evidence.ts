// The facts behind a verdict, each with what proves it. What nobody could look at is listed as unknown, not left out.

import type { Schema } from '@/api/client'
import type { MessagePlace, RunInFull } from '@/api/runs'
import { countOf, formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatDuration, formatMoment } from '@/lib/time'
import { HEALTH_WORDS, STATUS_WORDS } from './looks'

export type Proof = 'yes' | 'no' | 'unknown' | 'plain'
/** `place`: the message that proves it; `title`: what proves it in full, where that is long. */
export type Fact = { proof: Proof; says: string; because: string; place?: MessagePlace; title?: string }

// What of a run the evidence is told from.
export type Judged = Pick<
  RunInFull,
  | 'status'
  | 'effective_health'
  | 'state'
  | 'evidence'
  | 'processes'
  | 'last_message_at'
  | 'message_count'
  | 'branches'
  | 'artifacts_path'
  | 'ended_at'
  | 'ended_by'
  | 'exit_code'
>
type ProcessState = Schema['ProcessState']

const PROCESS_PROOFS: Record<ProcessState, Proof> = { alive: 'yes', dead: 'no', unknown: 'unknown' }
const PROCESS_WORDS: Record<ProcessState, string> = {
  alive: 'is alive',
  dead: 'is gone',
  unknown: 'is unknown',
}
const ROLE_WORDS: Record<Schema['ProcessRole'], string> = { agent: 'Process', recorder: 'Recorder' }

/** The rule that decided, as a sentence that begins with its verdict, and its code. */
export function rulingOf(run: Judged): { word: string; sentence: string; code: string | null } {
  // An ended run is healthy unless it left something behind; what people ask then is how it ended.
  const isEnding = run.status !== 'running' && run.effective_health === 'healthy'
  const { reasons } = run.state
  // A dead process is told first, but what makes a run orphaned is that it never produced anything.
  const rule = run.effective_health === 'orphaned' ? 'run.health.no_output' : 'run.health.'
  const ofHealth = isEnding ? undefined : reasons.find((reason) => reason.code.startsWith(rule))
  const deciding = ofHealth ?? reasons[0]
  return {
    word: isEnding ? statusWord(run.status) : HEALTH_WORDS[run.effective_health],
    sentence: lowerFirst(plainLine(deciding?.sentence ?? 'Nothing speaks against it.')),
    code: deciding?.code ?? null,
  }
}

/** Everything that was looked at, most telling first. */
export function factsOf(run: Judged, now: number): Fact[] {
  return [
    ...processFacts(run),
    ...(run.status === 'running' ? [heartbeatFact(run, now)] : []),
    messageFact(run, now),
    filesFact(run),
    ...leftoverFacts(run),
    ...otherReasons(run),
    statusFact(run, now),
  ]
}

function processFacts(run: Judged): Fact[] {
  if (run.processes.length === 0) {
    if (run.status !== 'running') return []
    return [{ proof: 'unknown', says: 'Process unknown', because: plainLine(run.evidence.process_sentence) }]
  }
  return run.processes.map((process) => {
    const where = process.host === null ? '' : ` on ${plainLine(process.host)}`
    return {
      // Where the run has ended it is as it should be that its process has, too.
      proof: run.status !== 'running' && process.state === 'dead' ? 'plain' : PROCESS_PROOFS[process.state],
      says: `${ROLE_WORDS[process.role]}${process.pid === 0 ? '' : ` ${process.pid}`}${where} ${PROCESS_WORDS[process.state]}`,
      because: proofOf(process.sentence),
      title: plainLine(process.sentence),
    }
  })
}

// What the sentence of a look begins with is said already: which process it is, where, and whether it lives.
const SAID: readonly [RegExp, string][] = [
  [/^pid \d+ is alive on .+, same boot and start time\.$/, 'same start time'],
  [/^pid \d+ is gone from .+\.$/, 'not found'],
  [/^pid \d+ is (?:on|in) .+ and cannot be seen/, 'cannot be seen'],
  [/^pid \d+ /, ''],
  [/\.$/, ''],
]

const proofOf = (sentence: string): string =>
  SAID.reduce((left, [said, short]) => left.replace(said, short), plainLine(sentence))

function heartbeatFact(run: Judged, now: number): Fact {
  const at = run.evidence.heartbeat_at
  if (at === null) {
    const because =
      run.evidence.process === 'unknown' ? 'none was sent' : 'not needed, its process is looked at'
    return { proof: 'unknown', says: 'Heartbeat unknown', because }
  }
  return { proof: 'plain', says: `Heartbeat ${formatDuration(now - at)} ago`, because: formatMoment(at, now) }
}

function messageFact(run: Judged, now: number): Fact {
  const at = run.last_message_at
  if (at === null || run.message_count === 0)
    return { proof: 'plain', says: 'No message', because: 'nothing was ever said' }
  const says = `Last message ${formatDuration(now - at)} ago`
  const last = lastMessage(run)
  if (last === null) return { proof: 'plain', says, because: formatMoment(at, now) }
  const because = `${plainLine(last.branch)} #${formatCount(last.place.position)}`
  return { proof: 'plain', says, because, place: last.place }
}

/** Where a run spoke last: at the end of the branch that was heard last. */
export function lastMessage(
  run: Pick<RunInFull, 'branches'>,
): { branch: string; place: MessagePlace } | null {
  const spoken = run.branches.filter((branch) => branch.message_count > 0)
  const heard = spoken.toSorted((one, other) => (other.last_at ?? 0) - (one.last_at ?? 0))[0]
  if (heard === undefined) return null
  const place = { branch_id: heard.id, position: heard.history_length }
  return { branch: heard.name ?? heard.id.slice(0, 8), place }
}

function filesFact(run: Judged): Fact {
  const { artifacts_path: path } = run
  const folder =
    path === null
      ? { because: 'it names no folder' }
      : { because: endOfPath(plainLine(path)), title: plainLine(path) }
  switch (run.evidence.has_artifacts) {
    case true:
      return { proof: 'plain', says: 'It wrote files', ...folder }
    case false:
      return { proof: 'plain', says: 'It wrote no file', ...folder }
    case null:
      return { proof: 'unknown', says: 'Files unknown', because: 'nobody could look' }
  }
}

function leftoverFacts(run: Judged): Fact[] {
  const left = (files: readonly string[], noun: string): Fact[] =>
    files.length === 0
      ? []
      : [{ proof: 'no', says: countOf(files.length, noun), because: files.map(fileName).join(', ') }]
  return [
    ...left(run.evidence.stale_locks, 'stale lock'),
    ...left(run.evidence.temp_files, 'unfinished file'),
  ]
}

// Reasons that the facts above do not tell: late messages, lost ones, clocks that differ, a play that was refused.
const TOLD = /^run\.health\.(process_|heartbeat_|quiet|ended|stale_locks|temp_files|no_output)/

function otherReasons(run: Judged): Fact[] {
  const { code } = rulingOf(run)
  return run.state.reasons
    .filter((reason) => reason.code !== code && !TOLD.test(reason.code))
    .map((reason) => ({ proof: 'plain', says: plainLine(reason.sentence), because: reason.code }))
}

function statusFact(run: Judged, now: number): Fact {
  if (run.status === null)
    return { proof: 'plain', says: 'No status is stored', because: 'older than the vocabulary' }
  const says = `Stored status is ${STATUS_WORDS[run.status].toLowerCase()}`
  if (run.status === 'running') return { proof: 'plain', says, because: 'no timer ends it' }
  const by = run.ended_by === null || run.ended_by === 'run' ? '' : ` by ${plainLine(run.ended_by)}`
  const at = run.ended_at === null ? '' : ` at ${formatMoment(run.ended_at, now)}`
  const exit = run.exit_code === null ? '' : `, exit ${run.exit_code}`
  return { proof: 'plain', says, because: `ended${by}${at}${exit}` }
}

const statusWord = (status: Judged['status']): string => (status === null ? 'Legacy' : STATUS_WORDS[status])
const fileName = (path: string): string => plainLine(path.split('/').at(-1) ?? path)
/** A path by its last two parts. */
const endOfPath = (path: string): string => path.replace(/^.+(\/[^/]+\/[^/]+\/?)$/, '…$1')
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
