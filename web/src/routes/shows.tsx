import { createFileRoute } from '@tanstack/react-router'
import { Shell } from '@/features/shell/Shell'
import { EmptyState } from '@/ui/states'

export const Route = createFileRoute('/shows')({ component: ShowsPage })

function ShowsPage() {
  return (
    <Shell crumbs={<span className="medium text-text">Shows</span>}>
      <EmptyState title="This page is being built." />
    </Shell>
  )
}
