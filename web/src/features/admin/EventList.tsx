import { Link } from '@tanstack/react-router'
import type { AdminEvent } from '@/api/admin'
import { plainLine } from '@/lib/plain'
import { formatMoment } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { Moment } from '@/ui/Moment'
import { describeEvent, targetOf } from './describeEvent'

type Props = { events: readonly AdminEvent[]; now: number; label: string }

/** What operators and the doctor did, newest first. */
export function EventList({ events, now, label }: Props) {
  return (
    <ul aria-label={label}>
      {events.map((event) => (
        <Row key={event.id} event={event} now={now} />
      ))}
    </ul>
  )
}

function Row({ event, now }: { event: AdminEvent; now: number }) {
  const { icon, title, says } = describeEvent(event)
  const target = targetOf(event)
  return (
    <li
      data-action={event.action}
      className="grid min-h-[52px] grid-cols-[76px_14px_minmax(0,1fr)_auto] items-center gap-2.5 border-b border-line px-4 last:border-0"
    >
      <Moment at={event.created_at} className="text-12 whitespace-nowrap text-text-3">
        {formatMoment(event.created_at, now)}
      </Moment>
      <Icon name={icon} size={14} className="text-text-3" />
      <span className="grid min-w-0">
        <span className="cut">{plainLine(title)}</span>
        <span className="cut text-12 text-text-3" title={plainLine(says)}>
          {target === null ? null : target.isRun ? (
            <Link
              to="/runs/$runId"
              params={{ runId: target.id }}
              className="mono text-text-2 hover:underline"
            >
              {target.label}
            </Link>
          ) : (
            <span className="mono text-text-2">{target.label}</span>
          )}
          {target !== null && says !== '' ? ' · ' : ''}
          {plainLine(says)}
        </span>
      </span>
      <span className="cut max-w-28 text-12 text-text-3">{plainLine(event.actor)}</span>
    </li>
  )
}
