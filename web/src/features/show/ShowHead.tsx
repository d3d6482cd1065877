import type { ReactNode } from 'react'
import type { ShowInFull } from '@/api/shows'
import { useNow } from '@/lib/clock'
import { plainLine, plainText } from '@/lib/plain'
import { formatMoment, formatWhole } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Chain } from '@/vocabulary/Chain'

/** The name of a show, how it is, what it is for, and where it lives. */
export function ShowHead({ show, onPlan }: { show: ShowInFull; onPlan: (() => void) | undefined }) {
  const now = useNow(show.updated_at)
  const began = show.plays.reduce<number | null>(
    (first, { meta: { started_at: at } }) => (at === null ? first : Math.min(at, first ?? at)),
    null,
  )
  return (
    <header className="min-w-0">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-20 strong break-words">{plainLine(show.topic)}</h1>
        <Chain words={show.chain} state={show.state} raw={show.status} size="page" />
        {onPlan === undefined ? null : (
          <Button className="ml-auto" onClick={onPlan}>
            <Icon name="file" size={14} />
            Open plan
          </Button>
        )}
      </div>
      {show.goal === null ? null : (
        <p className="mt-1 max-w-[92ch] text-pretty break-words text-text-2">{plainText(show.goal)}</p>
      )}
      <p className="mt-2 flex flex-wrap gap-x-2 gap-y-1 text-12 text-text-3">
        {show.repo === null ? null : <span className="mono break-all">{plainLine(show.repo)}</span>}
        <Branches show={show} />
        {began === null ? null : (
          <Part>
            <span title={formatWhole(began)}>started {formatMoment(began, now)}</span>
          </Part>
        )}
        <Part>{show.status_read_from === 'filesystem' ? 'status from files' : 'status from database'}</Part>
        <Part>
          <span title={formatWhole(show.updated_at)}>updated {formatMoment(show.updated_at, now)}</span>
        </Part>
      </p>
    </header>
  )
}

function Part({ children }: { children: ReactNode }) {
  return <span className="before:mr-2 before:content-['·'] first:before:hidden">{children}</span>
}

function Branches({ show }: { show: ShowInFull }) {
  if (show.base_branch === null && show.integration_branch === null) return null
  return (
    <Part>
      <span className="mono">{plainLine(show.base_branch ?? '?')}</span>
      {show.integration_branch === null ? null : (
        <>
          {' to '}
          <span className="mono break-all">{plainLine(show.integration_branch)}</span>
        </>
      )}
    </Part>
  )
}
