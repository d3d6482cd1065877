import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { playsQuery } from '@/api/shows'
import { useVisit } from '@/api/visits'
import { PlayList } from '@/features/dashboard/PlayList'
import { isPlayStatus } from '@/features/dashboard/plays'
import { Page } from '@/features/shell/Page'

export const Route = createFileRoute('/plays')({
  // Several words, as people write them: running,redoing.
  validateSearch: (search: Record<string, unknown>): { status?: string } =>
    typeof search.status === 'string' ? { status: search.status } : {},
  component: PlaysPage,
})

function PlaysPage() {
  const words = (Route.useSearch().status ?? '').split(',').filter(isPlayStatus)
  const visit = useVisit()
  const list = useInfiniteQuery(playsQuery(words, visit))
  return (
    <Page title="Plays" trail={[{ label: 'Shows', link: { to: '/shows' } }]}>
      <header className="grid gap-1">
        <h1 className="text-20 strong">Plays</h1>
        <p className="text-text-2">
          {words.length === 0
            ? 'Plays of every show, newest first.'
            : `Plays of every show that are ${words.map((word) => word.replaceAll('_', ' ')).join(' or ')}, newest first.`}
        </p>
      </header>
      <PlayList key={visit} list={list} />
    </Page>
  )
}
