import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type Stats, statsQuery } from '@/api/dashboard'
import type { RunSearch } from '@/api/runList'
import { totalsQuery } from '@/api/totals'
import { formatCount } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'
import { Menu, MenuItem } from '@/ui/Menu'
import { STATUS_WORDS, VIEW_WORDS } from '@/vocabulary/looks'

type Tab = { label: string; search: RunSearch; count: (stats: Stats) => number }

const tabOfView = (view: NonNullable<RunSearch['view']>, count: Tab['count']): Tab => ({
  label: VIEW_WORDS[view],
  search: { view },
  count,
})

const ALL = { label: 'All', search: {} }
const RUNNING = {
  label: STATUS_WORDS.running,
  search: { status: 'running' },
  count: (s) => s.running,
} satisfies Tab
const REST: readonly Tab[] = [
  RUNNING,
  tabOfView('waiting', (stats) => stats.waiting),
  tabOfView('needs_review', (stats) => stats.needs_review),
  tabOfView('failed_24h', (stats) => stats.failed_24h),
  tabOfView('slow', (stats) => stats.slow),
  tabOfView('over_60m', (stats) => stats.latency_24h.over_60m),
  tabOfView(
    'ended_24h',
    ({ outcomes_24h: all }) => all.completed + all.failed + all.timed_out + all.aborted + all.cancelled,
  ),
  tabOfView('legacy', (stats) => stats.legacy),
]
export const TABS: readonly Pick<Tab, 'label' | 'search'>[] = [ALL, ...REST]

/** How many rows the list of each tab has, where that is known. */
export function useTabCounts(): (number | undefined)[] {
  const runs = useQuery(totalsQuery).data?.runs
  const stats = useQuery(statsQuery).data
  return [runs, ...REST.map((tab) => (stats === undefined ? undefined : tab.count(stats)))]
}

/** The tab whose list this is; a list that is narrowed further belongs to the tab that it was narrowed from. */
export function tabOf({ view, status }: RunSearch): number {
  if (view !== undefined) return TABS.findIndex((tab) => tab.search.view === view)
  return status === 'running' ? TABS.indexOf(RUNNING) : 0
}

// Those that come last are folded where there is no room for all of them.
const FOLDED_FROM = 5

/** Named lists. A tab drops every other filter, because the number beside it counts without them. */
export function ViewTabs({ search }: { search: RunSearch }) {
  const counts = useTabCounts()
  const current = tabOf(search)
  const isFolded = (place: number) => place >= FOLDED_FROM && place !== current
  return (
    <nav
      aria-label="Lists of runs"
      className="@container flex gap-x-4 overflow-x-clip border-b border-line wide:gap-x-6"
    >
      {TABS.map((tab, place) => (
        <Link
          key={tab.label}
          to="/runs"
          search={tab.search}
          activeOptions={{ exact: true, includeSearch: true }} // or the router calls narrower lists this one
          aria-current={place === current ? 'page' : undefined}
          className={`-mb-px h-9 flex-none items-center gap-1.5 border-b-2 medium ${isFolded(place) ? 'hidden @min-[1090px]:flex' : 'flex'} ${place === current ? 'border-accent text-text' : 'border-transparent text-text-2 hover:text-text'}`}
        >
          {tab.label}
          {/* Its place is kept before its number is known. */}
          <span className="min-w-[2ch] text-12 font-normal text-text-3">
            {counts[place] === undefined ? '' : formatCount(counts[place])}
          </span>
        </Link>
      ))}
      <span className="ml-auto flex items-center @min-[1090px]:hidden">
        <MoreTabs places={TABS.map((_, place) => place).filter(isFolded)} counts={counts} />
      </span>
    </nav>
  )
}

type MoreProps = { places: readonly number[]; counts: readonly (number | undefined)[] }

/** The lists that have no tab in a narrow window. */
function MoreTabs({ places, counts }: MoreProps) {
  const navigate = useNavigate()
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label="More lists"
          className="inline-flex h-7 items-center gap-1 rounded-control px-1.5 medium text-text-2 hover:bg-active hover:text-text"
        >
          More
          <Icon name="down" size={12} />
        </button>
      }
    >
      {places.map((place) => (
        <MenuItem
          key={TABS[place]?.label}
          onSelect={() => void navigate({ to: '/runs', search: TABS[place]?.search ?? {} })}
        >
          {TABS[place]?.label}
          <span className="ml-auto pl-4 text-12 text-text-3">
            {counts[place] === undefined ? '' : formatCount(counts[place])}
          </span>
        </MenuItem>
      ))}
    </Menu>
  )
}
