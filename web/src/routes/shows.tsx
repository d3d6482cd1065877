import { createFileRoute } from '@tanstack/react-router'
import { Page } from '@/features/shell/Page'
import { EmptyState } from '@/ui/states'

export const Route = createFileRoute('/shows')({ component: ShowsPage })

function ShowsPage() {
  return (
    <Page title="Shows">
      <EmptyState title="This page is being built." />
    </Page>
  )
}
