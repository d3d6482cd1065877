import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Transitioning } from '@/actions/Transitioning'
import type { RunSearch } from '@/api/runList'
import { useVisit } from '@/api/visits'
import { RunsView } from '@/features/runs/RunsView'
import { readSearch } from '@/features/runs/search'
import { Page } from '@/features/shell/Page'

export const Route = createFileRoute('/runs/')({ validateSearch: readSearch, component: RunsPage })

function RunsPage() {
  const given = Route.useSearch()
  const search = useMemo(() => readSearch(given), [given]) // the router keeps words that nobody knows
  const visit = useVisit()
  const navigate = useNavigate({ from: Route.fullPath })
  const change = (next: RunSearch, isTyping = false): void => {
    const isSameStep = isTyping && search.search !== undefined && next.search !== undefined
    void navigate({ search: next, replace: isSameStep })
  }
  return (
    <Page title="Runs">
      <Transitioning>
        <RunsView search={search} visit={visit} onSearch={change} />
      </Transitioning>
    </Page>
  )
}
