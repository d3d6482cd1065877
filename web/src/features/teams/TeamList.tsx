import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Team, type TeamStatus, teamsQuery } from '@/api/teams'
import { useNow } from '@/lib/clock'
import { formatCount, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatWhole } from '@/lib/time'
import { NewestTable } from '@/ui/NewestTable'
import { Command, EmptyState } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { TEAM_LOOKS } from '@/vocabulary/looks'
import { Trouble } from '@/vocabulary/Trouble'

const COLUMNS =
  'grid grid-cols-[minmax(0,1fr)_120px_72px_80px_88px] items-center gap-4 wide:grid-cols-[minmax(0,1fr)_240px_104px_112px_112px] wide:gap-6'
const HEADS = [
  { word: 'Team' },
  { word: 'State' },
  { word: 'Members', className: 'text-right' },
  { word: 'Messages', className: 'text-right' },
  { word: 'Last message', className: 'text-right' },
]

/** Every team, newest first. */
export function TeamList({ status, visit }: { status: TeamStatus | undefined; visit: string }) {
  const list = useInfiniteQuery(teamsQuery(status, visit))
  return (
    <NewestTable
      label="Teams"
      noun="team"
      list={list}
      idOf={(team) => team.id}
      columns={COLUMNS}
      heads={HEADS}
      row={(team) => <Row team={team} />}
      empty={<NoTeams status={status} />}
      trouble={(error) => <Trouble error={error} retry={() => void list.refetch()} />}
    />
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
