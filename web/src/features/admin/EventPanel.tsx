import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { eventsQuery } from '@/api/admin'
import { useNow } from '@/lib/clock'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { EmptyState, Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { EventList } from './EventList'

const SHOWN = 10
const ROW = 52

/** The newest of what operators and the doctor did. It has its room from the start, so that news move nothing. */
export function EventPanel({ className = '' }: { className?: string }) {
  const log = useInfiniteQuery(eventsQuery())
  const now = useNow()
  const events = log.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Panel
      title="Admin event log"
      beside={<span className="text-12 text-text-3">append-only, kept 30 days</span>}
      more={
        <Link to="/admin/events" className="inline-flex h-6 items-center gap-1 px-1 hover:text-text">
          All events
          <Icon name="right" size={12} />
        </Link>
      }
      className={`overflow-hidden ${className}`}
    >
      <div style={{ minHeight: SHOWN * ROW }}>
        {log.isPending ? <Skeleton rows={SHOWN} height={ROW} /> : null}
        {log.error ? <Trouble error={log.error} retry={() => void log.refetch()} /> : null}
        {log.data && events.length === 0 ? <NoEvents /> : null}
        <EventList events={events.slice(0, SHOWN)} now={now} label="Newest events" />
      </div>
    </Panel>
  )
}

export function NoEvents() {
  return (
    <EmptyState title="Nothing was done yet.">
      <p>Every transition, prune, checkpoint and vacuum is written down here, and each change of health.</p>
    </EmptyState>
  )
}
