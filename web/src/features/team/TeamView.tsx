import type { MessageFilter, TeamInFull } from '@/api/teams'
import { Panel } from '@/ui/Panel'
import { Command } from '@/ui/states'
import { LinkedRuns } from './LinkedRuns'
import { Members } from './Members'
import { Messages } from './Messages'
import { sendCommand } from './sendCommand'
import { TeamHead } from './TeamHead'
import { TeamLanes } from './TeamLanes'

type Props = { team: TeamInFull; filter: MessageFilter; onFilter: (filter: MessageFilter) => void }

/** A team: who wrote when, what they wrote, who they are, and the runs behind it. */
export function TeamView({ team, filter, onFilter }: Props) {
  return (
    <>
      <TeamHead team={team} />
      <TeamLanes team={team} />
      <div className="grid items-start gap-4 wide:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <Messages key={JSON.stringify(filter)} team={team} filter={filter} onFilter={onFilter} />
        <div className="grid min-w-0 gap-4">
          <Members team={team} filter={filter} onFilter={onFilter} />
          <LinkedRuns team={team} />
          {team.status === 'active' ? (
            <Panel title="Send from a terminal">
              <div className="grid gap-2 px-4 pt-3 pb-4">
                <Command>{sendCommand(team.name)}</Command>
                <p className="text-12 text-text-3">Inside a run the message links itself to that run.</p>
              </div>
            </Panel>
          ) : null}
        </div>
      </div>
    </>
  )
}
