import type { Member, MessageFilter, TeamInFull } from '@/api/teams'
import { useNow } from '@/lib/clock'
import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatWhole } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { EmptyState } from '@/ui/states'
import { Avatar } from './Avatar'

type Props = { team: TeamInFull; filter: MessageFilter; onFilter: (filter: MessageFilter) => void }

/** Who belongs to a team. Pressing a name lists what they wrote. */
export function Members({ team, filter, onFilter }: Props) {
  return (
    <Panel title="Members" count={team.member_count} className="overflow-hidden">
      {team.members.length === 0 ? <EmptyState title="Nobody belongs to this team yet." /> : null}
      <ul>
        {team.members.map((member) => (
          <MemberRow
            key={member.name}
            member={member}
            isChosen={filter.from === member.name}
            onChoose={() => onFilter(filter.from === member.name ? {} : { from: member.name })}
          />
        ))}
      </ul>
    </Panel>
  )
}

type RowProps = { member: Member; isChosen: boolean; onChoose: () => void }

function MemberRow({ member, isChosen, onChoose }: RowProps) {
  const now = useNow(member.last_at)
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        aria-pressed={isChosen}
        disabled={member.sent === 0}
        title={member.sent === 0 ? 'Has not written yet' : 'List what they wrote'}
        className={`grid min-h-[52px] w-full grid-cols-[28px_minmax(0,1fr)_auto] items-center gap-3 px-4 text-left ${isChosen ? 'bg-selected' : 'enabled:hover:bg-hover'} disabled:cursor-default`}
        onClick={onChoose}
      >
        <Avatar name={member.name} size={28} />
        <span className="grid min-w-0">
          <span className="cut leading-[18px] medium">{plainLine(member.name)}</span>
          <span className="cut text-12 text-text-3">
            {member.is_member ? '' : member.name === 'system' ? 'notices · ' : 'not a member · '}
            {formatCount(member.sent)} sent · {formatCount(member.received)} received
          </span>
        </span>
        <span className="grid justify-items-end gap-px text-12 whitespace-nowrap">
          <span
            className="text-text-3"
            title={member.last_at === null ? undefined : formatWhole(member.last_at)}
          >
            {member.last_at === null ? '–' : `${formatBrief(now - member.last_at)} ago`}
          </span>
          {member.unread > 0 ? (
            <span className="t-review medium text-tone-fg">{formatCount(member.unread)} unread</span>
          ) : null}
        </span>
      </button>
    </li>
  )
}
