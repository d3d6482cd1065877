import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { concernsQuery, type Signal } from '@/api/dashboard'
import { AttentionList } from '@/features/dashboard/AttentionList'
import { Page } from '@/features/shell/Page'
import { isSignal, SIGNAL_SENTENCES, SIGNAL_WORDS, SIGNALS } from '@/vocabulary/signals'

export const Route = createFileRoute('/attention')({
  validateSearch: (search: Record<string, unknown>): { signal?: Signal } =>
    isSignal(search.signal) ? { signal: search.signal } : {},
  component: AttentionPage,
})

const TAB =
  'relative inline-flex h-9 items-center px-2.5 medium whitespace-nowrap text-text-3 hover:text-text aria-[current=page]:text-text aria-[current=page]:after:absolute aria-[current=page]:after:inset-x-2.5 aria-[current=page]:after:-bottom-px aria-[current=page]:after:h-0.5 aria-[current=page]:after:bg-accent'

function AttentionPage() {
  const { signal } = Route.useSearch()
  const list = useInfiniteQuery(concernsQuery(signal))
  return (
    <Page title="Attention" trail={[{ label: 'Dashboard', link: { to: '/' } }]}>
      <header className="grid gap-1">
        <h1 className="text-20 strong">Attention</h1>
        <p className="text-text-2">
          {signal === undefined
            ? 'Everything that needs a look, each thing once: the most severe first, and of those the oldest.'
            : SIGNAL_SENTENCES[signal]}
        </p>
      </header>
      <nav aria-label="Signals" className="-mb-2 flex flex-wrap border-b border-line">
        <Link
          to="/attention"
          search={{}}
          aria-current={signal === undefined ? 'page' : undefined}
          activeProps={{}}
          className={`${TAB} -ml-2.5`}
        >
          All
        </Link>
        {SIGNALS.map((one) => (
          <Link
            key={one}
            to="/attention"
            search={{ signal: one }}
            aria-current={signal === one ? 'page' : undefined}
            activeProps={{}}
            className={`${TAB} first-letter:uppercase`}
          >
            {SIGNAL_WORDS[one]}
          </Link>
        ))}
      </nav>
      <AttentionList list={list} signal={signal} />
    </Page>
  )
}
