import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { executionsQuery } from '@/api/dashboard'
import { useVisit } from '@/api/visits'
import { ExecutionList } from '@/features/dashboard/ExecutionList'
import { Page } from '@/features/shell/Page'

export const Route = createFileRoute('/executions')({ component: ExecutionsPage })

function ExecutionsPage() {
  const visit = useVisit()
  const list = useInfiniteQuery(executionsQuery(visit))
  return (
    <Page title="Active executions" trail={[{ label: 'Dashboard', link: { to: '/' } }]}>
      <header className="grid gap-1">
        <h1 className="text-20 strong">Active executions</h1>
        <p className="text-text-2">What is at work: shows, and runs outside of shows. The oldest first.</p>
      </header>
      <ExecutionList key={visit} list={list} />
    </Page>
  )
}
