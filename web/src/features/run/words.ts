// How the facts of a run are put into words.

import type { Schema } from '@/api/client'
import type { Branch, MessagePlace, RunInFull, ToolErrors } from '@/api/runs'
import { countOf, formatCount, formatTokens } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { quoted } from '@/lib/quoted'
import { nameOf } from '@/vocabulary/branches'
import { lastMessage } from '@/vocabulary/evidence'
import { type Act, offerOf } from '@/vocabulary/operatorActs'

export const branchName = (branch: Branch): string => plainLine(nameOf(branch))

export function branchNamed(run: RunInFull, id: string): string {
  const branch = run.branches.find((one) => one.id === id)
  return branch === undefined ? plainLine(id.slice(0, 8)) : branchName(branch)
}

type Usage = Schema['UsageOut']

/** All tokens that went in and came out. Reasoning is part of what came out. */
export const tokensOf = (usage: Usage): number =>
  usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens

export function tokenParts(usage: Usage): string {
  const cached = usage.cache_read_tokens
  const parts = [
    cached > 0 ? `${formatTokens(cached)} cached` : null,
    `${formatTokens(usage.output_tokens)} out`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

/** A model without the provider before it. */
export const modelName = (model: string): string => plainLine(model.split('/').at(-1) || model)

/** The models of a run: what its branches were begun with, then what answered beside them. */
export function modelsOf(run: RunInFull): string[] {
  const begun = run.branches.map((branch) => branch.model).filter((model) => model !== null)
  const used = Object.keys(run.usage_by_model).filter((model) => model !== 'unknown')
  return [...new Set([...begun, ...used])]
}

/** How many kinds of tool errors there are; only the most frequent ones are told. */
export const errorKinds = (run: RunInFull): number => run.tool_errors.length + run.tool_error_kinds_left_out

/** Where a kind of error happened: main 5 · retry 2. Of many times the latest are told. */
export function errorPlaces(run: RunInFull, errors: ToolErrors): string {
  const places = Object.entries(errors.by_branch).sort((one, other) => other[1] - one[1])
  const shown = places.slice(0, 4).map(([id, times]) => `${branchNamed(run, id)} ${times}`)
  const left = places.length - shown.length
  const told = errors.times > errors.latest.length ? `of the last ${errors.latest.length} ` : ''
  return `${told}${[...shown, ...(left > 0 ? [`and ${countOf(left, 'more branch', 'more branches')}`] : [])].join(' · ')}`
}

export type Fitting =
  | { action: Act | 'export' | 'copy' }
  | { action: 'first error' | 'show them'; place: MessagePlace }

/** The one action that fits the state of a run; where an operator is offered one, it is the same as in every list. */
export function fittingAction(run: RunInFull): Fitting {
  const offer = offerOf(run.actions)
  if (offer !== null && offer !== 'logs') return { action: offer }
  if (run.status === 'running') return { action: 'copy' }
  const late = run.state.reasons.some((reason) => reason.code === 'run.health.wrote_after_end')
  const last = late ? lastMessage(run) : null
  if (last !== null) return { action: 'show them', place: last.place }
  const failed = run.status === 'failed' || run.status === 'timed_out' ? run.first_tool_error?.place : null
  if (failed) return { action: 'first error', place: failed }
  return { action: 'export' }
}

/** Why a run cannot be ended by hand, and what can be done instead; null if it can. */
export function whyNotEnded(run: RunInFull): { says: string; command: string } | null {
  if (run.status !== 'running' || run.actions.includes('transition')) return null
  const command = `li runs kill ${quoted(run.id)}`
  if (run.effective_health === 'unresponsive') return null // with force and a note; the dialog asks for both
  const alive = run.evidence.process === 'alive'
  const says = alive
    ? 'Its process is alive, so it ends by itself. To stop the process, and the run with it:'
    : 'It was heard from not long ago, so it may still work. To stop its process, and the run with it:'
  return { says, command }
}

type Touched = Pick<RunInFull, 'files' | 'files_left_out'>

/** How many files were written. Written ones come first, so that only more of them than are told leave it open. */
export function writtenWords({ files, files_left_out }: Touched): string {
  const written = files.filter((file) => file.how === 'written').length
  const isOpen = files_left_out > 0 && written === files.length
  return `${isOpen ? 'at least ' : ''}${formatCount(written)} written`
}

/** What a press shows, of all that is not shown yet. */
export function moreFilesWords({ files, files_left_out }: Touched, shown: number): string {
  const left = files.length - shown
  return files_left_out === 0
    ? `Show ${countOf(left, 'more file')}`
    : `Show ${formatCount(left)} of ${countOf(left + files_left_out, 'more file')}`
}

/** A folder and a file name; only the folder may be cut. */
export function splitPath(path: string): { folder: string; name: string } {
  const plain = plainLine(path)
  let last = plain.length - 1
  while (plain[last] === '/') last -= 1
  const end = last < 0 ? 0 : plain.lastIndexOf('/', last) + 1
  return { folder: plain.slice(0, end), name: plain.slice(end) }
}

/** What a failed tool said: its output, and then the error where that is more than a mark. */
export function failureText(content: unknown): string {
  if (typeof content !== 'object' || content === null) return textOf(content)
  const output = 'output' in content ? content.output : null
  const error = 'error' in content && content.error !== true ? content.error : null
  return [output, error]
    .filter((part) => part !== null && part !== undefined && part !== '')
    .map(textOf)
    .join('\n')
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
