// What stands in the place of a page that cannot be shown: not here yet, not there at all, or broken.

import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { answerOf, GET, StudioError } from '@/api/client'
import { useConnection } from '@/api/live'
import { isPartMissing, loadAgainOnce } from '@/lib/missingParts'
import { Button, buttonClass } from '@/ui/Button'
import { Panel } from '@/ui/Panel'
import { Command, EmptyState, ErrorState, Skeleton } from '@/ui/states'
import { Page } from './Page'

export function PagePending() {
  return <Skeleton rows={8} />
}

export function PageNotFound() {
  return (
    <Page title="Not found">
      <Panel>
        <EmptyState title="There is no page at this address.">
          <p className="mono break-all">{location.pathname}</p>
          <p>It may have been mistyped, or the run, show or team has another address now.</p>
          <WaysOn />
        </EmptyState>
      </Panel>
    </Page>
  )
}

/** What happened, and a way on. The frame around it stays. */
export function PageBroken({ error: thrown, reset }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const router = useRouter()
  const again = () => {
    reset()
    void router.invalidate()
  }
  if (isPartMissing(error)) return <PartMissing />
  const told = error instanceof StudioError ? { hint: error.hint, code: error.code } : { code: error.message }
  const message = error instanceof StudioError ? error.message : 'This page broke while it was drawn.'
  return (
    <Page title="Broken page">
      <Panel>
        <ErrorState message={message} {...told} retry={again} />
        <div className="pr-4 pb-5 pl-[42px]">
          <WaysOn />
        </div>
      </Panel>
    </Page>
  )
}

/** While the studio is away nothing can be loaded; once it is back the page comes by itself. */
function PartMissing() {
  const isLive = useConnection().state === 'live'
  useEffect(() => {
    // The line may be down without anybody having noticed: who loads then is left with nothing.
    if (isLive)
      void answerOf(GET('/api/ready')).then(
        () => loadAgainOnce(),
        () => undefined,
      )
  }, [isLive])
  return (
    <Page title={isLive ? 'Load the page again' : 'No answer'}>
      <Panel>
        {isLive ? (
          <EmptyState title="A part of this page could not be loaded.">
            <p>The studio was updated, or it does not answer.</p>
            <div>
              <Button onClick={() => location.reload()}>Load the page again</Button>
            </div>
          </EmptyState>
        ) : (
          <EmptyState title="The studio does not answer.">
            <p>This page is shown as soon as it is back. If it was stopped, start it:</p>
            <Command>li studio</Command>
          </EmptyState>
        )}
      </Panel>
    </Page>
  )
}

function WaysOn() {
  return (
    <div className="flex gap-2">
      <Link to="/" className={buttonClass()}>
        Dashboard
      </Link>
      <Link to="/runs" className={buttonClass()}>
        Runs
      </Link>
    </div>
  )
}
