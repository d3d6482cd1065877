import { useQueryClient } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { type RunSearch, runListKey } from '@/api/runList'
import { RunsView } from '@/features/runs/RunsView'
import { readSearch } from '@/features/runs/search'
import { Transitioning } from '@/features/runs/Transitioning'
import { Page } from '@/features/shell/Page'

export const Route = createFileRoute('/runs/')({ validateSearch: readSearch, component: RunsPage })

function RunsPage() {
  const search = Route.useSearch()
  const queries = useQueryClient()
  const navigate = useNavigate({ from: Route.fullPath })
  const change = (next: RunSearch, isTyping = false): void => {
    // A filter that is chosen gives the list as it is now; only Back returns to what was there.
    queries.removeQueries({ queryKey: runListKey(next), exact: true, type: 'inactive' })
    const isSameStep = isTyping && search.search !== undefined && next.search !== undefined
    void navigate({ search: next, replace: isSameStep })
  }
  return (
    <Page title="Runs">
      <Transitioning>
        <RunsView search={search} onSearch={change} />
      </Transitioning>
    </Page>
  )
}
