import type { TeamInFull } from '@/api/teams'
import { useNow } from '@/lib/clock'
import { plainLine, plainText } from '@/lib/plain'
import { formatBrief } from '@/lib/time'
import { Chain } from '@/vocabulary/Chain'
import { TEAM_LOOKS } from '@/vocabulary/looks'

/** The name of a team, how large it is, and when somebody last wrote. */
export function TeamHead({ team }: { team: TeamInFull }) {
  const now = useNow(team.last_message_at)
  const last = team.last_message_at === null ? [] : [`last ${formatBrief(now - team.last_message_at)} ago`]
  const description = team.node_metadata?.description
  return (
    <header className="min-w-0">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-20 strong break-words">{plainLine(team.name)}</h1>
        <Chain
          words={[...team.chain, ...last]}
          state={team.state}
          look={TEAM_LOOKS[team.status]}
          raw={team.status}
          size="page"
        />
      </div>
      {typeof description === 'string' && description !== '' ? (
        <p className="mt-1 max-w-[92ch] break-words text-text-2">{plainText(description)}</p>
      ) : null}
    </header>
  )
}
