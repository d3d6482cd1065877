import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Transitioning } from '@/actions/Transitioning'
import { type Stats, statsQuery } from '@/api/dashboard'
import { ActivePanel } from '@/features/dashboard/ActivePanel'
import { AttentionPanel } from '@/features/dashboard/AttentionPanel'
import { Cards } from '@/features/dashboard/Cards'
import { DashboardSkeleton } from '@/features/dashboard/DashboardSkeleton'
import { isFresh } from '@/features/dashboard/firstRun'
import { Hello } from '@/features/dashboard/Hello'
import { RecentPanel } from '@/features/dashboard/RecentPanel'
import { ShowsPanel } from '@/features/dashboard/ShowsPanel'
import { SystemStrip } from '@/features/dashboard/SystemStrip'
import { Page } from '@/features/shell/Page'
import { Panel } from '@/ui/Panel'
import { Trouble } from '@/vocabulary/Trouble'

export const Route = createFileRoute('/')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(statsQuery),
  component: DashboardPage,
})

function DashboardPage() {
  const stats = useQuery(statsQuery)
  return (
    <Page title="Dashboard">
      <h1 className="text-20 strong">Dashboard</h1>
      {stats.isPending ? <DashboardSkeleton /> : null}
      {stats.error && stats.data === undefined ? (
        <Panel>
          <Trouble error={stats.error} retry={() => void stats.refetch()} />
        </Panel>
      ) : null}
      {stats.data === undefined ? null : isFresh(stats.data) ? (
        <Hello />
      ) : (
        <Transitioning>
          <Full stats={stats.data} />
        </Transitioning>
      )}
    </Page>
  )
}

function Full({ stats }: { stats: Stats }) {
  return (
    <>
      <Cards stats={stats} />
      <SystemStrip stats={stats} />
      <div className="grid grid-cols-12 gap-4">
        <AttentionPanel total={stats.attention.total} />
        <ActivePanel running={stats.executions.sessions} />
        <RecentPanel runs={stats.recent} />
        <ShowsPanel total={stats.shows_active} />
      </div>
    </>
  )
}
