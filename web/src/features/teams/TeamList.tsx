import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Team, type TeamStatus, teamsQuery } from '@/api/teams'
import { useNow } from '@/lib/clock'
import { useNewest } from '@/lib/newest'
import { formatCount, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { useRowKeys } from '@/lib/rowKeys'
import { formatBrief, formatWhole } from '@/lib/time'
import { ListFoot } from '@/ui/ListFoot'
import { Panel } from '@/ui/Panel'
import { Command, EmptyState, Skeleton } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { TEAM_LOOKS } from '@/vocabulary/looks'
import { Trouble } from '@/vocabulary/Trouble'

const COLUMNS =
  'grid grid-cols-[minmax(0,1fr)_120px_72px_80px_88px] items-center gap-4 wide:grid-cols-[minmax(0,1fr)_240px_104px_112px_112px] wide:gap-6'

/** Every team, newest first. */
export function TeamList({ status, visit }: { status: TeamStatus | undefined; visit: string }) {
  const list = useInfiniteQuery(teamsQuery(status, visit))
  const teams = list.data?.pages.flatMap((page) => page.items) ?? []
  const { shown, waiting, refresh } = useNewest(teams, (team) => team.id)
  const rows = useRowKeys<HTMLDivElement>()
  return (
    <Panel className="overflow-hidden">
      {list.isPending ? <Skeleton rows={6} /> : null}
      {list.error && list.data === undefined ? (
        <Trouble error={list.error} retry={() => void list.refetch()} />
      ) : null}
      {list.data && shown.length === 0 ? <NoTeams status={status} /> : null}
      {shown.length > 0 ? (
        <>
          <div ref={rows} role="table" aria-label="Teams">
            <div
              role="row"
              className={`${COLUMNS} h-8 border-b border-line bg-sunken px-4 text-12 medium text-text-3`}
            >
              <span role="columnheader">Team</span>
              <span role="columnheader">State</span>
              <span role="columnheader" className="text-right">
                Members
              </span>
              <span role="columnheader" className="text-right">
                Messages
              </span>
              <span role="columnheader" className="text-right">
                Last message
              </span>
            </div>
            {shown.map((team) => (
              <Row key={team.id} team={team} />
            ))}
          </div>
          <ListFoot list={list} count={shown.length} noun="team" waiting={waiting} onRefresh={refresh} />
        </>
      ) : null}
    </Panel>
  )
}

function Row({ team }: { team: Team }) {
  const now = useNow(team.last_message_at)
  const last = team.last_message_at
  return (
    <div
      role="row"
      className={`${COLUMNS} relative min-h-11 border-b border-line px-4 last:border-0 focus-within:bg-hover hover:bg-hover`}
    >
      <span role="cell" className="grid min-w-0">
        <Link
          data-stop
          to="/teams/$team"
          params={{ team: team.id }}
          className="cut leading-[18px] medium before:absolute before:inset-0 hover:underline"
        >
          {plainLine(team.name)}
        </Link>
        <span className="cut text-12 text-text-3">
          <span className="mono">{shortId(team.id)}</span>
        </span>
      </span>
      {/* None of these has a fill, so that their icons stand below the head. */}
      <span role="cell" className="-ml-[5px] min-w-0">
        <Chain
          words={team.chain.slice(0, 1)}
          state={team.state}
          look={TEAM_LOOKS[team.status]}
          raw={team.status}
        />
      </span>
      <span role="cell" className="text-right text-text-2">
        {formatCount(team.member_count)}
      </span>
      <span role="cell" className="text-right text-text-2">
        {formatCount(team.message_count)}
      </span>
      <span
        role="cell"
        title={last === null ? undefined : formatWhole(last)}
        className="text-right whitespace-nowrap text-text-2"
      >
        {last === null ? '–' : `${formatBrief(now - last)} ago`}
      </span>
    </div>
  )
}

function NoTeams({ status }: { status: TeamStatus | undefined }) {
  if (status !== undefined) return <EmptyState title={`No team is ${status}.`} />
  return (
    <EmptyState title="There is no team yet.">
      <p>Make one, so that agents and people can write to each other, or bring team files in:</p>
      <Command>li team create NAME MEMBER MEMBER</Command>
      <Command>li state import-teams</Command>
    </EmptyState>
  )
}
