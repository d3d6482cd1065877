import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { isOnDisk, showQuery } from '@/api/shows'
import { Page } from '@/features/shell/Page'
import { DiskShowView } from '@/features/show/DiskShowView'
import { ShowView } from '@/features/show/ShowView'
import { plainLine } from '@/lib/plain'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

type Search = { play?: string }

export const Route = createFileRoute('/shows/$topic')({
  validateSearch: ({ play }: Record<string, unknown>): Search =>
    typeof play === 'string' || typeof play === 'number' ? { play: String(play) } : {},
  component: ShowPage,
})

function ShowPage() {
  const { topic } = Route.useParams()
  const { play } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const show = useQuery(showQuery(topic))
  return (
    <Page title={plainLine(topic)} trail={[{ label: 'Shows', link: { to: '/shows' } }]}>
      {show.isPending ? <Loading /> : null}
      {show.error && show.data === undefined ? (
        <Panel>
          <Trouble error={show.error} retry={() => void show.refetch()} />
        </Panel>
      ) : null}
      {show.data === undefined ? null : isOnDisk(show.data) ? (
        <DiskShowView show={show.data} />
      ) : (
        <ShowView
          key={topic}
          show={show.data}
          play={play}
          onPlay={(name) =>
            void navigate({
              search: name === undefined ? {} : { play: name },
              replace: true,
              resetScroll: false,
            })
          }
        />
      )}
    </Page>
  )
}

function Loading() {
  return (
    <Panel>
      <Skeleton rows={8} />
    </Panel>
  )
}
