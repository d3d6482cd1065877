import type { MessageFilter, TeamInFull } from '@/api/teams'
import { plainLine } from '@/lib/plain'
import { Button } from '@/ui/Button'
import { SelectField } from '@/ui/Field'

type Props = { team: TeamInFull; filter: MessageFilter; onFilter: (filter: MessageFilter) => void }

/** Whose messages are listed. It is all in the address, so that a list can be sent to somebody. */
export function MessageFilters({ team, filter, onFilter }: Props) {
  const set = (name: 'from' | 'to', value: string) => {
    const { unread, [name]: _, ...rest } = filter
    const keepsUnread = name === 'from' && unread === true
    onFilter({ ...rest, ...(value === '' ? {} : { [name]: value }), ...(keepsUnread ? { unread } : {}) })
  }
  const reader = team.members.find((member) => member.name === filter.to)
  const senders = team.members.filter((member) => member.sent > 0)
  const readers = team.members.filter((member) => member.is_member || member.received > 0)
  const isFiltered = filter.from !== undefined || filter.to !== undefined
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <SelectField
        label="From"
        value={filter.from ?? ''}
        onChange={(event) => set('from', event.target.value)}
      >
        <option value="">anyone</option>
        {senders.map((member) => (
          <option key={member.name} value={member.name}>
            {plainLine(member.name)}
          </option>
        ))}
      </SelectField>
      <SelectField label="To" value={filter.to ?? ''} onChange={(event) => set('to', event.target.value)}>
        <option value="">anyone</option>
        <option value="all">everyone</option>
        {readers.map((member) => (
          <option key={member.name} value={member.name}>
            {plainLine(member.name)}
          </option>
        ))}
      </SelectField>
      {reader === undefined ? null : (
        <Button
          size="small"
          look={filter.unread === true ? 'primary' : 'plain'}
          aria-pressed={filter.unread === true}
          onClick={() => {
            const { unread, ...rest } = filter
            onFilter(unread === true ? rest : { ...rest, unread: true })
          }}
        >
          Unread {reader.unread}
        </Button>
      )}
      {isFiltered ? (
        <Button size="small" look="ghost" onClick={() => onFilter({})}>
          Clear
        </Button>
      ) : null}
    </div>
  )
}
