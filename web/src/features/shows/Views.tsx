import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { playsQuery, type ShowFilter } from '@/api/shows'
import { totalsQuery } from '@/api/totals'
import { Tab, Tabs } from '@/ui/Tabs'
import { FILTER_WORDS, NEEDS_YOU } from './views'

const TABS: readonly (ShowFilter | undefined)[] = [undefined, 'active', 'completed', 'aborted', 'unknown']

/** Shows by how far they are, and a way to the plays of all shows that need somebody. */
export function Views({ status }: { status: ShowFilter | undefined }) {
  const totals = useQuery(totalsQuery).data
  const [first] = useInfiniteQuery(playsQuery(NEEDS_YOU)).data?.pages ?? []
  const waiting = first?.items.length
  return (
    <Tabs label="Views">
      {TABS.map((tab) => (
        <Tab
          key={tab ?? 'all'}
          isOn={status === tab}
          link={{ to: '/shows', search: tab === undefined ? {} : { status: tab } }}
          count={tab === undefined ? totals?.shows : totals?.shows_by_status[tab]}
        >
          {tab === undefined ? 'All' : FILTER_WORDS[tab]}
        </Tab>
      ))}
      <Tab
        isOn={false}
        link={{ to: '/plays', search: { status: NEEDS_YOU.join(',') } }}
        count={first?.next_cursor ? `${waiting}+` : waiting}
        tone={waiting ? 'review' : undefined}
      >
        Plays that need you
      </Tab>
    </Tabs>
  )
}
