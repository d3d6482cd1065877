// Where one can go, and how many things are there. A count and the list it opens have the same filter.

import { useQuery } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { statsQuery } from '@/api/dashboard'
import { totalsQuery } from '@/api/totals'
import type { IconName } from '@/ui/Icon'
import type { Tone } from '@/vocabulary/looks'

type Label =
  | 'Dashboard'
  | 'Runs'
  | 'Shows'
  | 'Teams'
  | 'Admin'
  | 'Waiting for you'
  | 'Needs attention'
  | 'Running'
  | 'Failed 24h'

export type Destination = { label: Label; icon: IconName; link: LinkProps; href: string }

export const PAGES: readonly (Destination & { key: string })[] = [
  { label: 'Dashboard', icon: 'dashboard', key: 'd', link: { to: '/' }, href: '/' },
  { label: 'Runs', icon: 'runs', key: 'r', link: { to: '/runs' }, href: '/runs' },
  { label: 'Shows', icon: 'shows', key: 's', link: { to: '/shows' }, href: '/shows' },
  { label: 'Teams', icon: 'teams', key: 't', link: { to: '/teams' }, href: '/teams' },
  { label: 'Admin', icon: 'admin', key: 'a', link: { to: '/admin' }, href: '/admin' },
]

export const VIEWS: readonly Destination[] = [
  {
    label: 'Waiting for you',
    icon: 'person',
    link: { to: '/runs', search: { view: 'waiting' } },
    href: '/runs?view=waiting',
  },
  { label: 'Needs attention', icon: 'warning', link: { to: '/attention' }, href: '/attention' },
  {
    label: 'Running',
    icon: 'running',
    link: { to: '/runs', search: { status: 'running' } },
    href: '/runs?status=running',
  },
  {
    label: 'Failed 24h',
    icon: 'failed',
    link: { to: '/runs', search: { view: 'failed_24h' } },
    href: '/runs?view=failed_24h',
  },
]

/** How many there are. `tone`: somebody should look at them. */
export type Amount = { count: number; tone?: Tone }

export function useAmounts(): Partial<Record<Label, Amount>> {
  const totals = useQuery(totalsQuery).data
  const stats = useQuery(statsQuery).data
  const of = (count: number | undefined, tone?: Tone): Amount | undefined =>
    count === undefined ? undefined : { count, ...(tone === undefined || count === 0 ? {} : { tone }) }
  const amounts: Record<Label, Amount | undefined> = {
    Dashboard: undefined,
    Runs: of(totals?.runs),
    Shows: of(totals?.shows),
    Teams: of(totals?.teams),
    Admin: of(
      stats && totals ? unhealthyIn(stats.executions.by_health) + totals.zombies : undefined,
      'stale',
    ),
    'Waiting for you': of(stats?.waiting, 'review'),
    'Needs attention': of(stats?.attention.total, 'stale'),
    Running: of(stats?.running),
    'Failed 24h': of(stats?.failed_24h),
  }
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== undefined))
}

// The intervention queue of the admin console lists everything that needs somebody, which one that is only quiet does
// not; what ended runs left is counted apart.
const NEEDS_NOBODY = ['healthy', 'idle']
const unhealthyIn = (healths: Readonly<Record<string, number>>): number =>
  Object.entries(healths).reduce(
    (sum, [health, count]) => (NEEDS_NOBODY.includes(health) ? sum : sum + count),
    0,
  )
