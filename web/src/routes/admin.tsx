import { createFileRoute } from '@tanstack/react-router'
import { Shell } from '@/features/shell/Shell'
import { EmptyState } from '@/ui/states'

export const Route = createFileRoute('/admin')({ component: AdminPage })

function AdminPage() {
  return (
    <Shell crumbs={<span className="medium text-text">Admin</span>}>
      <EmptyState title="This page is being built." />
    </Shell>
  )
}
