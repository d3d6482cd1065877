import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { type Member, type TeamMessage, teamMessageQuery } from '@/api/teams'
import { countOf, shortId } from '@/lib/numbers'
import { plainLine, plainText } from '@/lib/plain'
import { formatTime } from '@/lib/time'
import { CopyButton } from '@/ui/CopyButton'
import { Icon } from '@/ui/Icon'
import { Inline } from '@/ui/Inline'
import { Moment } from '@/ui/Moment'
import { Trouble } from '@/vocabulary/Trouble'
import { Avatar } from './Avatar'
import { isEscalation } from './lanes'

type Props = { message: TeamMessage; members: readonly Member[] }

/** One message: a summary of a long one, and all of it when asked for. Notices of the system are one quiet line. */
export function Message({ message, members }: Props) {
  const time = (
    <Moment at={message.created_at} className="text-12 leading-6 text-text-3">
      {formatTime(message.created_at)}
    </Moment>
  )
  if (message.sender === 'system') return <Notice message={message} time={time} />
  return (
    <article
      data-message={message.id}
      className="grid grid-cols-[38px_24px_minmax(0,1fr)] gap-x-3 border-b border-line px-4 py-2.5 last:border-0 hover:bg-hover"
    >
      {time}
      <Avatar name={message.sender} />
      <div className="min-w-0">
        <header className="flex min-h-6 min-w-0 flex-wrap items-center gap-x-1.5">
          <b className="cut strong">{plainLine(message.sender)}</b>
          <span className="text-text-3">to</span>
          <span className={`cut ${message.recipient === 'all' ? 'text-text-2' : 'medium'}`}>
            {plainLine(message.recipient)}
          </span>
          {isEscalation(message) ? <Escalation /> : null}
          <SentFrom message={message} />
          <span
            className="ml-auto text-12 whitespace-nowrap text-text-3"
            title={message.read_by.map(plainLine).join(', ')}
          >
            {readBy(message, members)}
          </span>
        </header>
        <Said message={message} />
      </div>
    </article>
  )
}

function Escalation() {
  return (
    <span className="t-review inline-flex h-5 items-center gap-1 rounded-full border border-tone-line pr-[7px] pl-1 text-12 text-tone-fg">
      <Icon name="escalated" size={12} className="text-tone" />
      escalation
    </span>
  )
}

function SentFrom({ message: { session_id, session } }: { message: TeamMessage }) {
  if (session_id === null) return null
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: session_id }}
      title={`Sent from this run${session === null ? '' : `: ${plainLine(session.display_name)}`}`}
      className="mono inline-flex h-5 items-center gap-1 rounded-chip border border-line-strong bg-surface px-1.5 text-text-2 hover:border-line-control hover:text-text"
    >
      <Icon name="runs" size={12} className="text-text-3" />
      {shortId(session_id)}
    </Link>
  )
}

/** How many of those it was for have read it. */
export function readBy({ sender, recipient, read_by }: TeamMessage, members: readonly Member[]): string {
  if (recipient !== 'all') return read_by.includes(recipient) ? 'read' : 'unread'
  const readers = members.filter((member) => member.is_member && member.name !== sender)
  if (readers.length === 0) return ''
  const count = readers.filter((member) => read_by.includes(member.name)).length
  return count === 0 ? 'unread' : `read by ${count} of ${readers.length}`
}

function Said({ message }: { message: TeamMessage }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const isSummary = message.summary !== null
  return (
    <>
      <p className="max-w-[72ch] text-pretty break-words whitespace-pre-line">
        <Inline text={message.summary ?? message.content ?? ''} />
      </p>
      {isSummary ? (
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          className="mt-1 inline-flex h-6 items-center gap-1.5 text-12 medium text-text-2 hover:text-text"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
          {isOpen ? 'Collapse raw message' : 'Expand raw message'}
          <span className="font-normal text-text-3">{countOf(message.content_length, 'character')}</span>
        </button>
      ) : null}
      {isOpen ? <Raw id={id} message={message} /> : null}
    </>
  )
}

function Raw({ id, message }: { id: string; message: TeamMessage }) {
  const asked = useQuery(teamMessageQuery(message.team_id, message.id))
  const content = asked.data?.content ?? null
  return (
    <div id={id} className="relative mt-1 min-h-10 rounded-control border border-line bg-sunken">
      {asked.error ? <Trouble error={asked.error} retry={() => void asked.refetch()} /> : null}
      {content === null ? null : (
        <>
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
            tabIndex={0}
            className="max-h-[480px] overflow-auto py-2.5 pr-9 pl-3 font-mono text-12 leading-[19px] break-words whitespace-pre-wrap"
          >
            {plainText(content)}
          </pre>
          <span className="absolute top-1.5 right-1.5">
            <CopyButton text={content} label="Copy message" />
          </span>
        </>
      )}
    </div>
  )
}

function Notice({ message, time }: { message: TeamMessage; time: React.ReactNode }) {
  return (
    <div
      data-message={message.id}
      className="grid grid-cols-[38px_24px_minmax(0,1fr)] items-center gap-x-3 border-b border-line px-4 py-1 text-12 text-text-2 last:border-0"
    >
      {time}
      <Icon
        name={isEscalation(message) ? 'escalated' : 'info'}
        size={14}
        className={`justify-self-center ${isEscalation(message) ? 't-review text-tone' : 'text-text-3'}`}
      />
      <span className="break-words">
        <Inline text={message.summary ?? message.content ?? ''} />
      </span>
    </div>
  )
}
