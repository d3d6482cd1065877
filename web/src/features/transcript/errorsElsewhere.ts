// Where the errors of a run are, for whoever looks for them in a branch that has none.

import type { Branch, RunInFull } from '@/api/runs'
import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { nameOf } from '@/vocabulary/branches'

const NAMED = 3

/** "No error in architect; 2 in builder". Of many errors only the latest have a place; then no numbers are told. */
export function errorsElsewhere(run: RunInFull, branch: Branch | null): string {
  if (run.tool_error_count === 0 || branch === null) return 'No tool failed in this run'
  const counts = new Map<string, number>()
  for (const { by_branch } of run.tool_errors)
    for (const [id, times] of Object.entries(by_branch)) counts.set(id, (counts.get(id) ?? 0) + times)
  const isWhole = [...counts.values()].reduce((sum, times) => sum + times, 0) === run.tool_error_count
  const others = run.branches
    .filter((one) => one.id !== branch.id && counts.has(one.id))
    .sort((one, other) => (counts.get(other.id) ?? 0) - (counts.get(one.id) ?? 0))
  const told = others.slice(0, NAMED).map((one) => {
    const name = plainLine(nameOf(one))
    return isWhole ? `${formatCount(counts.get(one.id) ?? 0)} in ${name}` : `some in ${name}`
  })
  const more = others.length > NAMED ? ', more in others' : ''
  const here = `No error in ${plainLine(nameOf(branch))}`
  return told.length === 0 ? here : `${here}; ${told.join(', ')}${more}`
}
