import { useQuery } from '@tanstack/react-query'
import type { TeamStatus } from '@/api/teams'
import { totalsQuery } from '@/api/totals'
import { Tab, Tabs } from '@/ui/Tabs'

const WORDS: Record<TeamStatus, string> = { active: 'Active', archived: 'Archived' }

export const isTeamStatus = (word: unknown): word is TeamStatus =>
  typeof word === 'string' && Object.hasOwn(WORDS, word)

/** Teams by whether they are in use. */
export function TeamTabs({ status }: { status: TeamStatus | undefined }) {
  const totals = useQuery(totalsQuery).data
  const tab = (of: TeamStatus) => (
    <Tab
      isOn={status === of}
      link={{ to: '/teams', search: { status: of } }}
      count={totals?.teams_by_status[of]}
    >
      {WORDS[of]}
    </Tab>
  )
  return (
    <Tabs label="Views">
      <Tab isOn={status === undefined} link={{ to: '/teams' }} count={totals?.teams}>
        All
      </Tab>
      {tab('active')}
      {tab('archived')}
    </Tabs>
  )
}
