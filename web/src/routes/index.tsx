import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { statsQuery } from '@/api/dashboard'
import { Page } from '@/features/shell/Page'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

export const Route = createFileRoute('/')({ component: DashboardPage })

function DashboardPage() {
  const stats = useQuery(statsQuery)
  return (
    <Page title="Dashboard">
      {stats.isPending ? <Skeleton /> : null}
      {stats.error ? <Trouble error={stats.error} retry={() => void stats.refetch()} /> : null}
      {stats.data ? <pre className="mono">{JSON.stringify(stats.data.attention, null, 1)}</pre> : null}
    </Page>
  )
}
