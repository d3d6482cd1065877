import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { requestChangesQuery } from '@/api/dashboard'
import { useVisit } from '@/api/visits'
import { RefusedList } from '@/features/dashboard/RefusedList'
import { Page } from '@/features/shell/Page'

export const Route = createFileRoute('/request-changes')({ component: RequestChangesPage })

function RequestChangesPage() {
  const visit = useVisit()
  const list = useInfiniteQuery(requestChangesQuery(visit))
  return (
    <Page title="Request changes" trail={[{ label: 'Dashboard', link: { to: '/' } }]}>
      <header className="grid gap-1">
        <h1 className="text-20 strong">Request changes</h1>
        <p className="text-text-2">Plays whose gate asked for changes in the last 24 hours, newest first.</p>
      </header>
      <RefusedList key={visit} list={list} />
    </Page>
  )
}
