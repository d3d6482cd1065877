import { createFileRoute } from '@tanstack/react-router'
import { Page } from '@/features/shell/Page'
import { EmptyState } from '@/ui/states'

export const Route = createFileRoute('/admin/')({ component: AdminPage })

function AdminPage() {
  return (
    <Page title="Admin">
      <EmptyState title="This page is being built." />
    </Page>
  )
}
