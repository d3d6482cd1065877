import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import { runsBeginningQuery } from '@/api/runList'
import { historyQuery, type Run } from '@/api/runs'
import { plainLine } from '@/lib/plain'
import { buttonClass } from '@/ui/Button'
import { Panel } from '@/ui/Panel'
import { EmptyState, Skeleton } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { wordsInRow } from '@/vocabulary/chainWords'
import { History } from './History'

const SHOWN = 10

/**
 * An address that leads to no run. It may be the beginning of an id, which leads to the run if there is one alone; else
 * it says what may have happened, and where to go on. A history outlives a deleted run.
 */
export function NoRun({ id }: { id: string }) {
  const history = useQuery({ ...historyQuery(id), retry: false })
  const beginning = useQuery(runsBeginningQuery(id))
  const runs = beginning.data ?? []
  if (beginning.isPending || history.isPending) {
    return (
      <Panel>
        <Skeleton rows={4} />
      </Panel>
    )
  }
  const wasThere = (history.data?.items.length ?? 0) > 0
  const [only] = runs
  if (only !== undefined && runs.length === 1 && !wasThere)
    return <Navigate to="/runs/$runId" params={{ runId: only.id }} search={true} hash={true} replace />
  return (
    <>
      <Panel>
        <EmptyState title={titleOf(wasThere, runs.length)}>
          <p className="mono break-all">{plainLine(id)}</p>
          {runs.length > 0 && !wasThere ? (
            <Alike runs={runs} />
          ) : (
            <p>
              {wasThere
                ? 'Its messages are gone. What happened to it is kept below.'
                : 'It may be in another database, or a part of its id is missing.'}
            </p>
          )}
          <div className="flex flex-wrap gap-2">
            <Link to="/runs" search={{ search: id }} className={buttonClass()}>
              Search for it
            </Link>
            <Link to="/runs" className={buttonClass()}>
              All runs
            </Link>
          </div>
        </EmptyState>
      </Panel>
      {wasThere ? <History history={history} /> : null}
    </>
  )
}

function titleOf(wasThere: boolean, alike: number): string {
  if (wasThere) return 'This run was deleted.'
  return alike === 0 ? 'There is no run with this id.' : 'Several runs have an id that begins so.'
}

function Alike({ runs }: { runs: readonly Run[] }) {
  const left = runs.length - SHOWN
  return (
    <ul aria-label="Runs whose ids begin so" className="grid gap-1">
      {runs.slice(0, SHOWN).map((run) => (
        <li key={run.id} className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <Link
            to="/runs/$runId"
            params={{ runId: run.id }}
            search={true}
            hash={true}
            className="cut medium text-text hover:underline"
          >
            {plainLine(run.display_name)}
          </Link>
          <span className="mono text-text-3">{run.id}</span>
          <Chain words={wordsInRow(run.chain)} state={run.state} raw={run.status} />
        </li>
      ))}
      {left > 0 ? <li>and {left} more</li> : null}
    </ul>
  )
}
