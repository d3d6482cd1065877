import { createFileRoute } from '@tanstack/react-router'
import { Page } from '@/features/shell/Page'
import { EmptyState } from '@/ui/states'

export const Route = createFileRoute('/teams')({ component: TeamsPage })

function TeamsPage() {
  return (
    <Page title="Teams">
      <EmptyState title="This page is being built." />
    </Page>
  )
}
