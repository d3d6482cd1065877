import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '@/api/client'
import { showsInProgressQuery } from '@/api/dashboard'
import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { StackBar } from '@/ui/StackBar'
import { Command, EmptyState, Skeleton } from '@/ui/states'
import { progressOf } from '@/vocabulary/playLooks'
import { Trouble } from '@/vocabulary/Trouble'
import { LivePanel } from './LivePanel'
import { toActiveShows, toPlay } from './lists'

const SLOTS = 4
const ROW = 84

type Show = Schema['ShowRow']

/** Shows that go on, and how far each has come. */
export function ShowsPanel({ total }: { total: number }) {
  const list = useQuery(showsInProgressQuery(SLOTS))
  const shows = list.data?.items ?? []
  return (
    <LivePanel
      className="col-span-12 self-start wide:col-span-4"
      title="Shows in progress"
      count={total}
      link={toActiveShows}
      rows={shows.map((show) => ({ ...show, id: show.topic }))}
      slots={SLOTS}
      rowHeight={ROW}
      isLast
      instead={
        list.isPending ? (
          <Skeleton rows={SLOTS} height={ROW} />
        ) : list.data === undefined && list.error ? (
          <Trouble error={list.error} retry={() => void list.refetch()} />
        ) : shows.length === 0 ? (
          <EmptyState title="No show is in progress.">
            <p>Bring in what is on disk:</p>
            <Command>li state import-shows</Command>
          </EmptyState>
        ) : undefined
      }
      draw={(show) => <ShowRow show={show} />}
    />
  )
}

function ShowRow({ show }: { show: Show }) {
  const parts = progressOf(show.plays_by_status)
  const merged = show.plays_by_status.merged ?? 0
  const rest = parts.filter((part) => part.count > 0 && part.label !== 'merged')
  return (
    <div className="grid min-w-0 gap-1.5 px-4">
      <span className="flex min-w-0 items-baseline gap-3">
        <Link {...toPlay(show.topic)} className="cut medium hover:underline">
          {plainLine(show.topic)}
        </Link>
        <span className="ml-auto text-12 whitespace-nowrap text-text-3">
          {formatCount(merged)} of {formatCount(show.play_count)} merged
        </span>
      </span>
      <StackBar parts={parts} />
      <span className="cut text-12 text-text-3">
        {rest.map((part) => `${formatCount(part.count)} ${part.label}`).join(' · ') || 'Everything is merged'}
      </span>
    </div>
  )
}
