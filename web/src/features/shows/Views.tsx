import { useInfiniteQuery } from '@tanstack/react-query'
import { playsQuery, type ShowFilter } from '@/api/shows'
import { Tab, Tabs } from '@/ui/Tabs'
import { FILTER_WORDS, NEEDS_YOU } from './views'

const TABS: readonly (ShowFilter | undefined)[] = [undefined, 'active', 'completed', 'aborted', 'unknown']

/** Shows by how far they are, and a way to the plays of all shows that need somebody. */
export function Views({ status }: { status: ShowFilter | undefined }) {
  const waiting = useInfiniteQuery(playsQuery(NEEDS_YOU))
  const [first] = waiting.data?.pages ?? []
  const count = first === undefined ? null : first.items.length
  return (
    <Tabs label="Views">
      {TABS.map((tab) => (
        <Tab
          key={tab ?? 'all'}
          isOn={status === tab}
          link={{ to: '/shows', search: tab === undefined ? {} : { status: tab } }}
        >
          {tab === undefined ? 'All' : FILTER_WORDS[tab]}
        </Tab>
      ))}
      <Tab isOn={false} link={{ to: '/plays', search: { status: NEEDS_YOU.join(',') } }}>
        Plays that need you
        <span
          className={`ml-1.5 inline-block min-w-3 text-12 ${count ? 't-review text-tone-fg' : 'text-text-3'}`}
        >
          {count === null ? '' : first?.next_cursor ? `${count}+` : count}
        </span>
      </Tab>
    </Tabs>
  )
}
