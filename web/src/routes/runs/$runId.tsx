import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { runQuery } from '@/api/runs'
import { Shell } from '@/features/shell/Shell'
import { Icon } from '@/ui/Icon'
import { Skeleton } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { Trouble } from '@/vocabulary/Trouble'

export const Route = createFileRoute('/runs/$runId')({ component: RunPage })

function RunPage() {
  const { runId } = Route.useParams()
  const run = useQuery(runQuery(runId))
  const crumbs = (
    <>
      <Link to="/runs">Runs</Link>
      <Icon name="right" size={12} className="text-text-off" />
      <span className="cut medium text-text">{run.data?.display_name ?? runId}</span>
    </>
  )
  return (
    <Shell crumbs={crumbs}>
      {run.isPending ? <Skeleton /> : null}
      {run.error ? <Trouble error={run.error} retry={() => void run.refetch()} /> : null}
      {run.data ? (
        <Chain words={run.data.chain} state={run.data.state} raw={run.data.status} size="page" />
      ) : null}
    </Shell>
  )
}
