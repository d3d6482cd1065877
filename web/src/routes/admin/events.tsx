import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { type EventFilter, eventsQuery } from '@/api/admin'
import { EventFilters } from '@/features/admin/EventFilters'
import { EventList } from '@/features/admin/EventList'
import { NoEvents } from '@/features/admin/EventPanel'
import { Page } from '@/features/shell/Page'
import { textOf } from '@/lib/address'
import { useNow } from '@/lib/clock'
import { Button } from '@/ui/Button'
import { Panel } from '@/ui/Panel'
import { EmptyState, Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

const FILTERS = ['action', 'actor', 'target_id'] as const
const ROW = 52

export const Route = createFileRoute('/admin/events')({ validateSearch: readFilter, component: EventsPage })

function readFilter(search: Record<string, unknown>): EventFilter {
  return Object.fromEntries(
    FILTERS.map((name) => [name, textOf(search[name])]).filter(([, text]) => text !== undefined),
  )
}

function EventsPage() {
  const filter = readFilter(Route.useSearch()) // the router keeps words that nobody knows
  const navigate = useNavigate({ from: Route.fullPath })
  const log = useInfiniteQuery(eventsQuery(filter))
  const now = useNow()
  const events = log.data?.pages.flatMap((page) => page.items) ?? []
  const isFiltered = Object.keys(filter).length > 0
  return (
    <Page title="Event log" trail={[{ label: 'Admin', link: { to: '/admin' } }]}>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h1 className="text-20 strong">Event log</h1>
        <p className="text-text-3">
          What operators and the doctor did, newest first. Of 30 days, and the newest 1,000 in any case.
        </p>
      </div>
      <EventFilters filter={filter} onChange={(next) => void navigate({ search: next, replace: true })} />
      <Panel className="overflow-hidden">
        {log.isPending ? <Skeleton rows={10} height={ROW} /> : null}
        {log.error ? <Trouble error={log.error} retry={() => void log.refetch()} /> : null}
        {log.data && events.length === 0 ? (
          isFiltered ? (
            <EmptyState title="No event matches these filters.">
              <div>
                <Button size="small" onClick={() => void navigate({ search: {}, replace: true })}>
                  Clear filters
                </Button>
              </div>
            </EmptyState>
          ) : (
            <NoEvents />
          )
        ) : null}
        <EventList events={events} now={now} label="Events" />
        {log.hasNextPage ? (
          <div className="border-t border-line px-4 py-2">
            <Button
              look="ghost"
              size="small"
              disabled={log.isFetchingNextPage}
              onClick={() => void log.fetchNextPage()}
            >
              {log.isFetchingNextPage ? 'Loading' : 'Load older events'}
            </Button>
          </div>
        ) : null}
      </Panel>
    </Page>
  )
}
