import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { runQuery } from '@/api/runs'
import { Page } from '@/features/shell/Page'
import { Skeleton } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { Trouble } from '@/vocabulary/Trouble'

export const Route = createFileRoute('/runs/$runId')({ component: RunPage })

function RunPage() {
  const { runId } = Route.useParams()
  const run = useQuery(runQuery(runId))
  return (
    <Page title={run.data?.display_name ?? runId} trail={[{ label: 'Runs', link: { to: '/runs' } }]}>
      {run.isPending ? <Skeleton /> : null}
      {run.error ? <Trouble error={run.error} retry={() => void run.refetch()} /> : null}
      {run.data ? (
        <Chain words={run.data.chain} state={run.data.state} raw={run.data.status} size="page" />
      ) : null}
    </Page>
  )
}
