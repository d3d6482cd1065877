import { createFileRoute } from '@tanstack/react-router'
import type { TeamStatus } from '@/api/teams'
import { Page } from '@/features/shell/Page'
import { TeamList } from '@/features/teams/TeamList'
import { Tab, Tabs } from '@/ui/Tabs'

const WORDS: Record<TeamStatus, string> = { active: 'Active', archived: 'Archived' }

const isStatus = (word: unknown): word is TeamStatus => typeof word === 'string' && Object.hasOwn(WORDS, word)

export const Route = createFileRoute('/teams/')({
  validateSearch: ({ status }: Record<string, unknown>): { status?: TeamStatus } =>
    isStatus(status) ? { status } : {},
  component: TeamsPage,
})

function TeamsPage() {
  const { status } = Route.useSearch()
  return (
    <Page title="Teams">
      <h1 className="text-20 strong">Teams</h1>
      <Tabs label="Views">
        <Tab isOn={status === undefined} link={{ to: '/teams' }}>
          All
        </Tab>
        <Tab isOn={status === 'active'} link={{ to: '/teams', search: { status: 'active' } }}>
          {WORDS.active}
        </Tab>
        <Tab isOn={status === 'archived'} link={{ to: '/teams', search: { status: 'archived' } }}>
          {WORDS.archived}
        </Tab>
      </Tabs>
      <TeamList key={status ?? 'all'} status={status} />
    </Page>
  )
}
