import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { historyQuery } from '@/api/runs'
import { plainLine } from '@/lib/plain'
import { buttonClass } from '@/ui/Button'
import { Panel } from '@/ui/Panel'
import { EmptyState } from '@/ui/states'
import { History } from './History'

/** An address that leads to no run: what may have happened, and where to go on. Its history outlives a deleted run. */
export function NoRun({ id }: { id: string }) {
  const history = useQuery({ ...historyQuery(id), retry: false })
  const wasThere = (history.data?.items.length ?? 0) > 0
  return (
    <>
      <Panel>
        <EmptyState title={wasThere ? 'This run was deleted.' : 'There is no run with this id.'}>
          <p className="mono break-all">{plainLine(id)}</p>
          <p>
            {wasThere
              ? 'Its messages are gone. What happened to it is kept below.'
              : 'It may be in another database, or a part of its id is missing.'}
          </p>
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
