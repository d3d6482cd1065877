import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Transitioning } from '@/actions/Transitioning'
import { concernsQuery, type Signal } from '@/api/dashboard'
import { useVisit } from '@/api/visits'
import { AttentionList } from '@/features/dashboard/AttentionList'
import { SignalTabs } from '@/features/dashboard/SignalTabs'
import { Page } from '@/features/shell/Page'
import { isSignal, SIGNAL_SENTENCES } from '@/vocabulary/signals'

export const Route = createFileRoute('/attention')({
  validateSearch: (search: Record<string, unknown>): { signal?: Signal } =>
    isSignal(search.signal) ? { signal: search.signal } : {},
  component: AttentionPage,
})

function AttentionPage() {
  const given = Route.useSearch().signal
  const signal = isSignal(given) ? given : undefined // the router keeps words that nobody knows
  const visit = useVisit()
  const list = useInfiniteQuery(concernsQuery(signal, visit))
  return (
    <Page title="Attention" trail={[{ label: 'Dashboard', link: { to: '/' } }]}>
      <header className="grid gap-1">
        <h1 className="text-20 strong">Attention</h1>
        <p className="text-text-2">
          {signal === undefined
            ? 'Everything that needs a look, each thing once: first what is stuck or waits for a person, then what failed, newest first.'
            : SIGNAL_SENTENCES[signal]}
        </p>
      </header>
      <SignalTabs current={signal} />
      <Transitioning>
        <AttentionList key={visit} list={list} signal={signal} />
      </Transitioning>
    </Page>
  )
}
