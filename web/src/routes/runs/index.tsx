import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { type RunFilter, runsQuery } from '@/api/runs'
import { RunFilters } from '@/features/runs/RunFilters'
import { RunTable } from '@/features/runs/RunTable'
import { Page } from '@/features/shell/Page'
import { Panel } from '@/ui/Panel'
import { Command, EmptyState, Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

const FILTERS = [
  'status',
  'kind',
  'source',
  'health',
  'agent',
  'playbook',
  'show',
  'search',
  'view',
  'sort',
] as const

export const Route = createFileRoute('/runs/')({
  validateSearch: (search: Record<string, unknown>): RunFilter =>
    Object.fromEntries(
      FILTERS.filter((name) => typeof search[name] === 'string').map((name) => [name, search[name]]),
    ),
  component: RunsPage,
})

function RunsPage() {
  const filter = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const list = useInfiniteQuery(runsQuery(filter))
  const runs = list.data?.pages.flatMap((page) => page.items) ?? []
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <Page title="Runs">
      <h1 className="text-20 strong">Runs</h1>
      <RunFilters filter={filter} onChange={(next) => void navigate({ search: next, replace: true })} />
      <Panel className="overflow-hidden">
        {list.isPending ? <Skeleton rows={10} /> : null}
        {list.error ? <Trouble error={list.error} retry={() => void list.refetch()} /> : null}
        {list.data && runs.length === 0 ? <NoRuns isFiltered={isFiltered} /> : null}
        {runs.length > 0 ? (
          <RunTable
            runs={runs}
            onNear={() => {
              if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
            }}
          />
        ) : null}
      </Panel>
    </Page>
  )
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No run matches these filters." />
  return (
    <EmptyState title="No run was recorded yet.">
      <p>Record one from Python with lionstudio.record(…), over HTTP, or bring past runs in:</p>
      <Command>li state import</Command>
    </EmptyState>
  )
}
