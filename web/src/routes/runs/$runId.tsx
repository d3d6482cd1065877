import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { StudioError } from '@/api/client'
import { runQuery } from '@/api/runs'
import { NoRun } from '@/features/run/NoRun'
import { RunView } from '@/features/run/RunView'
import { Page } from '@/features/shell/Page'
import { Transcript } from '@/features/transcript/Transcript'
import { plainLine } from '@/lib/plain'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

/** The branch that is read; the message is behind the hash. */
type Search = { branch?: string }

export const Route = createFileRoute('/runs/$runId')({
  validateSearch: ({ branch }: Record<string, unknown>): Search =>
    typeof branch === 'string' || typeof branch === 'number' ? { branch: String(branch) } : {},
  // On its way while the parts of the page are fetched; not for every link that a mouse passes over.
  loader: ({ context, params, cause }) => {
    if (cause !== 'preload') void context.queryClient.prefetchQuery(runQuery(params.runId))
  },
  component: RunPage,
})

function RunPage() {
  const { runId } = Route.useParams()
  const run = useQuery(runQuery(runId))
  const isGone = run.error instanceof StudioError && run.error.status === 404
  const title = isGone ? runId : (run.data?.display_name ?? 'Run')
  return (
    <Page title={plainLine(title)} trail={[{ label: 'Runs', link: { to: '/runs' } }]}>
      {run.isPending ? <Loading /> : null}
      {isGone ? <NoRun id={runId} /> : null}
      {run.error && !isGone && run.data === undefined ? (
        <Panel>
          <Trouble error={run.error} retry={() => void run.refetch()} />
        </Panel>
      ) : null}
      {run.data === undefined || isGone ? null : (
        <RunView key={runId} run={run.data} transcript={<Transcript run={run.data} />} />
      )}
    </Page>
  )
}

function Loading() {
  return (
    <>
      <Skeleton rows={2} height={52} />
      <Panel>
        <Skeleton rows={4} />
      </Panel>
      <Panel>
        <Skeleton rows={6} />
      </Panel>
    </>
  )
}
