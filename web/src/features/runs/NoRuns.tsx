import { useQuery } from '@tanstack/react-query'
import type { RunSearch } from '@/api/runList'
import { totalsQuery } from '@/api/totals'
import { countOf } from '@/lib/numbers'
import { Button } from '@/ui/Button'
import { Command, EmptyState, Skeleton } from '@/ui/states'
import { toldFilters } from './search'

const EXAMPLE = `curl -sS ${location.origin}/api/sessions --json '{"name": "first"}'`

/** An empty list: what is not there, why, and the next step. */
export function NoRuns({ search, onClear }: { search: RunSearch; onClear: () => void }) {
  const totals = useQuery(totalsQuery)
  if (totals.isPending) return <Skeleton rows={3} />
  const hidden = totals.data?.runs ?? 0
  const filters = toldFilters(search)
  if (filters.length === 0) return <FirstRun />
  const names = filters.map(({ label, value }) => `${label}: ${value}`)
  return (
    <EmptyState title="No run matches these filters.">
      <p>
        {hidden === 0
          ? 'There is no run at all yet.'
          : `${countOf(hidden, 'run is', 'runs are')} hidden by ${listed(names)}.`}
      </p>
      <div>
        <Button onClick={onClear}>Clear filters</Button>
      </div>
    </EmptyState>
  )
}

function FirstRun() {
  return (
    <EmptyState title="No run was recorded yet.">
      <p>Bring in what you have, a second time only what is new:</p>
      <Command>li state import</Command>
      <p>Record an agent of any language over HTTP:</p>
      <Command>{EXAMPLE}</Command>
      <p>
        From Python it is <code className="mono">with lionstudio.record("triage") as run:</code> around your
        agent. A run is here the moment it begins.
      </p>
    </EmptyState>
  )
}

/** Words in a row, as one says them: a, b and c. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}
