import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Show, type ShowFilter, showsQuery } from '@/api/shows'
import { useNow } from '@/lib/clock'
import { countOf } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatWhole } from '@/lib/time'
import { NewestTable } from '@/ui/NewestTable'
import { StackBar } from '@/ui/StackBar'
import { Command, EmptyState } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { progressOf } from '@/vocabulary/playLooks'
import { Trouble } from '@/vocabulary/Trouble'
import { FILTER_WORDS } from './views'

const COLUMNS =
  'grid grid-cols-[minmax(0,1fr)_minmax(0,240px)_72px] items-center gap-4 wide:grid-cols-[minmax(0,1fr)_320px_220px_88px] wide:gap-6'
const HEADS = [
  { word: 'Show' },
  { word: 'State' },
  { word: 'Progress', className: 'hidden wide:block' },
  { word: 'Updated', className: 'text-right' },
]

/** Every show, newest first: what it is for, how it is, how far it is. */
export function ShowList({ status, visit }: { status: ShowFilter | undefined; visit: string }) {
  const list = useInfiniteQuery(showsQuery(status, visit))
  return (
    <NewestTable
      label="Shows"
      noun="show"
      list={list}
      idOf={(show) => show.topic}
      columns={COLUMNS}
      heads={HEADS}
      row={(show) => <Row show={show} />}
      empty={<NoShows status={status} />}
      trouble={(error) => <Trouble error={error} retry={() => void list.refetch()} />}
    />
  )
}

function Row({ show }: { show: Show }) {
  const now = useNow(show.updated_at)
  return (
    <div
      role="row"
      className={`${COLUMNS} relative min-h-11 border-b border-line px-4 last:border-0 focus-within:bg-hover hover:bg-hover`}
    >
      <span role="cell" className="grid min-w-0">
        <Link
          data-stop
          to="/shows/$topic"
          params={{ topic: show.topic }}
          className="cut leading-[18px] medium before:absolute before:inset-0 hover:underline"
        >
          {plainLine(show.topic)}
        </Link>
        <span className="cut text-12 text-text-3">
          {show.goal === null ? 'No goal is written down' : plainLine(show.goal)}
        </span>
      </span>
      <span role="cell" className="min-w-0">
        <Chain words={show.chain} state={show.state} raw={show.status} />
      </span>
      <span role="cell" className="hidden items-center gap-3 wide:flex">
        <StackBar parts={progressOf(show.plays_by_status)} className="flex-1" />
        <span className="min-w-14 text-right text-12 whitespace-nowrap text-text-2">
          {countOf(show.play_count, 'play')}
        </span>
      </span>
      <span
        role="cell"
        title={formatWhole(show.updated_at)}
        className="text-right whitespace-nowrap text-text-2"
      >
        {formatBrief(now - show.updated_at)} ago
      </span>
    </div>
  )
}

function NoShows({ status }: { status: ShowFilter | undefined }) {
  if (status !== undefined) return <EmptyState title={`No show is ${FILTER_WORDS[status].toLowerCase()}.`} />
  return (
    <EmptyState title="No show was recorded yet.">
      <p>Bring shows in from their folders; LIONAGI_SHOWS_ROOT says where they are.</p>
      <Command>li state import-shows</Command>
    </EmptyState>
  )
}
