import { Link } from '@tanstack/react-router'
import type { TeamInFull } from '@/api/teams'
import { countOf, formatCount, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { Panel } from '@/ui/Panel'
import { EmptyState } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'

/** The runs that messages were sent from. */
export function LinkedRuns({ team }: { team: TeamInFull }) {
  const more = team.run_count - team.runs.length
  return (
    <Panel title="Linked runs" count={formatCount(team.run_count)} className="overflow-hidden">
      {team.runs.length === 0 ? (
        <EmptyState title="No run has written here.">
          <p>Inside a run, a message links itself to that run.</p>
        </EmptyState>
      ) : null}
      <ul>
        {team.runs.map((run) => (
          <li
            key={run.id}
            className="relative grid min-h-[52px] grid-cols-[minmax(0,1fr)_auto] items-center gap-3 border-b border-line px-4 last:border-0 hover:bg-hover"
          >
            <span className="grid min-w-0">
              <Link
                to="/runs/$runId"
                params={{ runId: run.id }}
                className="cut leading-[18px] medium before:absolute before:inset-0 hover:underline"
              >
                {plainLine(run.display_name)}
              </Link>
              <span className="cut text-12 text-text-3">
                <span className="mono">{shortId(run.id)}</span> · {countOf(run.team_messages, 'message')}
              </span>
            </span>
            <Chain words={run.chain.slice(0, 1)} state={run.state} raw={run.status} />
          </li>
        ))}
      </ul>
      {more > 0 ? (
        <p className="border-t border-line px-4 py-2.5 text-12 text-text-3">and {formatCount(more)} older</p>
      ) : null}
    </Panel>
  )
}
