import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatMoment, formatWhole } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { Inline } from '@/ui/Inline'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

type Message = Schema['TeamMessageOut']
type Props = { messages: UseQueryResult<Schema['Page_TeamMessageOut_']>; count: number }

const AT_FIRST = 6

/** What a run wrote to its teams, newest first. */
export function TeamMessages({ messages, count }: Props) {
  const [isWhole, setWhole] = useState(false)
  const items = messages.data?.items ?? []
  const shown = isWhole ? items : items.slice(0, AT_FIRST)
  const teams = new Map(items.map((message) => [message.team_id, message.team_name]))
  return (
    <Panel
      id="team-messages"
      className="overflow-hidden"
      title="Team messages"
      count={formatCount(count)}
      more={[...teams].slice(0, 2).map(([id, name]) => (
        <Link
          key={id}
          to="/teams/$team"
          params={{ team: id }}
          search={{}}
          className="inline-flex items-center gap-1 p-1 hover:text-text"
        >
          {plainLine(name)}
          <Icon name="right" size={12} />
        </Link>
      ))}
    >
      {messages.isPending ? <Skeleton rows={2} height={56} /> : null}
      {messages.error ? <Trouble error={messages.error} retry={() => void messages.refetch()} /> : null}
      {messages.data && items.length === 0 ? (
        <p className="px-4 py-3 text-text-3">This run wrote to no team.</p>
      ) : null}
      <ul>
        {shown.map((message) => (
          <MessageLine key={message.id} message={message} />
        ))}
      </ul>
      {items.length > shown.length ? (
        <button
          type="button"
          className="h-11 w-full border-t border-line px-4 text-left text-12 text-text-3 hover:bg-hover hover:text-text"
          onClick={() => setWhole(true)}
        >
          Show {formatCount(items.length - shown.length)} more
        </button>
      ) : null}
      {messages.data?.next_cursor ? (
        <p className="border-t border-line px-4 py-3 text-12 text-text-3">
          Earlier ones are on the page of the team.
        </p>
      ) : null}
    </Panel>
  )
}

function MessageLine({ message }: { message: Message }) {
  const [isOpen, setOpen] = useState(false)
  const now = useNow(message.created_at)
  const content = message.content ?? ''
  const short = plainLine(message.summary ?? content)
  const isLonger = plainLine(content) !== short
  return (
    <li className="grid min-h-14 grid-cols-[minmax(0,1fr)_auto] items-center gap-3 border-b border-line px-4 py-2 last:border-0">
      <div className="min-w-0">
        <p className="leading-[18px]">
          <b className="medium">{plainLine(message.sender)}</b>{' '}
          <span className="text-text-3">to {plainLine(message.recipient)}</span>
        </p>
        <p className="leading-[18px] break-words text-text-2">
          <Inline text={short} />
        </p>
        {isLonger ? (
          <button
            type="button"
            aria-expanded={isOpen}
            className="text-12 medium text-text-3 hover:text-text"
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Close raw message' : 'Expand raw message'}
          </button>
        ) : null}
        {isOpen ? (
          <p className="mt-1 break-words whitespace-pre-wrap text-text-2">
            <Inline text={content} />
          </p>
        ) : null}
      </div>
      <time className="self-start pt-px text-12 text-text-3" title={formatWhole(message.created_at)}>
        {formatMoment(message.created_at, now)}
      </time>
    </li>
  )
}
