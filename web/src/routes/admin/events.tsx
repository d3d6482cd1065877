import { createFileRoute } from '@tanstack/react-router'
import type { EventFilter } from '@/api/admin'
import { Page } from '@/features/shell/Page'

const FILTERS = ['action', 'actor', 'target_id'] as const

export const Route = createFileRoute('/admin/events')({
  validateSearch: (search: Record<string, unknown>): EventFilter =>
    Object.fromEntries(
      FILTERS.filter((name) => typeof search[name] === 'string').map((name) => [name, search[name]]),
    ),
  component: EventsPage,
})

function EventsPage() {
  return (
    <Page title="Event log" trail={[{ label: 'Admin', link: { to: '/admin' } }]}>
      {null}
    </Page>
  )
}
