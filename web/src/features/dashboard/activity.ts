import type { Run } from '@/api/runs'

/** Runs that wait for a person first, the longest of them first; then the others as they came. */
export function personFirst(runs: readonly Run[]): Run[] {
  const waits = (run: Run) => run.activity?.kind === 'human'
  const since = (run: Run) => run.activity?.since ?? run.created_at
  return [...runs.filter(waits).sort((a, b) => since(a) - since(b)), ...runs.filter((run) => !waits(run))]
}
