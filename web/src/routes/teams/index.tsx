import { createFileRoute } from '@tanstack/react-router'
import type { TeamStatus } from '@/api/teams'
import { useVisit } from '@/api/visits'
import { Page } from '@/features/shell/Page'
import { TeamList } from '@/features/teams/TeamList'
import { isTeamStatus, TeamTabs } from '@/features/teams/TeamTabs'

export const Route = createFileRoute('/teams/')({
  validateSearch: ({ status }: Record<string, unknown>): { status?: TeamStatus } =>
    isTeamStatus(status) ? { status } : {},
  component: TeamsPage,
})

function TeamsPage() {
  const { status } = Route.useSearch()
  const visit = useVisit()
  return (
    <Page title="Teams">
      <h1 className="text-20 strong">Teams</h1>
      <TeamTabs status={status} />
      <TeamList key={visit} status={status} visit={visit} />
    </Page>
  )
}
