import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { type MessageFilter, teamQuery } from '@/api/teams'
import { Page } from '@/features/shell/Page'
import { TeamView } from '@/features/team/TeamView'
import { plainLine } from '@/lib/plain'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

export const Route = createFileRoute('/teams/$team')({
  // A name may look like a number in the address; it is a name all the same.
  validateSearch: ({ from, to, unread }: Record<string, unknown>): MessageFilter => ({
    ...(from === undefined || from === '' ? {} : { from: String(from) }),
    ...(to === undefined || to === '' ? {} : { to: String(to) }),
    ...(unread === true ? { unread } : {}),
  }),
  component: TeamPage,
})

function TeamPage() {
  const { team: id } = Route.useParams()
  const filter = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const team = useQuery(teamQuery(id))
  return (
    <Page title={plainLine(team.data?.name ?? id)} trail={[{ label: 'Teams', link: { to: '/teams' } }]}>
      {team.isPending ? (
        <Panel>
          <Skeleton rows={8} />
        </Panel>
      ) : null}
      {team.error && team.data === undefined ? (
        <Panel>
          <Trouble error={team.error} retry={() => void team.refetch()} />
        </Panel>
      ) : null}
      {team.data === undefined ? null : (
        <TeamView
          key={id}
          team={team.data}
          filter={filter}
          onFilter={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        />
      )}
    </Page>
  )
}
