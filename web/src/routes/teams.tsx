import { createFileRoute } from '@tanstack/react-router'
import { Shell } from '@/features/shell/Shell'
import { EmptyState } from '@/ui/states'

export const Route = createFileRoute('/teams')({ component: TeamsPage })

function TeamsPage() {
  return (
    <Shell crumbs={<span className="medium text-text">Teams</span>}>
      <EmptyState title="This page is being built." />
    </Shell>
  )
}
