import { createFileRoute } from '@tanstack/react-router'
import type { ShowFilter } from '@/api/shows'
import { useVisit } from '@/api/visits'
import { Page } from '@/features/shell/Page'
import { ShowList } from '@/features/shows/ShowList'
import { Views } from '@/features/shows/Views'
import { isShowFilter } from '@/features/shows/views'

export const Route = createFileRoute('/shows/')({
  validateSearch: ({ status }: Record<string, unknown>): { status?: ShowFilter } =>
    isShowFilter(status) ? { status } : {},
  component: ShowsPage,
})

function ShowsPage() {
  const { status } = Route.useSearch()
  const visit = useVisit()
  return (
    <Page title="Shows">
      <h1 className="text-20 strong">Shows</h1>
      <Views status={status} />
      <ShowList key={visit} status={status} visit={visit} />
    </Page>
  )
}
