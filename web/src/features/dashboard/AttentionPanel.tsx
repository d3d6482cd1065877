import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { attentionQuery, type Concern } from '@/api/dashboard'
import { plainLine } from '@/lib/plain'
import { EmptyState, Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { Age } from './Age'
import { ConcernAction } from './ConcernAction'
import { ConcernState } from './ConcernState'
import { reasonOf } from './concerns'
import { LivePanel } from './LivePanel'
import { toAttention, toConcern } from './lists'

const SLOTS = 7
const ROW = 52

/** The most urgent of what needs a look, each with its reason. */
export function AttentionPanel({ total }: { total: number }) {
  const list = useQuery(attentionQuery(SLOTS))
  return (
    <LivePanel
      className="col-span-12 wide:col-span-8"
      title="Needs attention"
      count={total}
      link={toAttention()}
      rows={list.data?.items ?? []}
      slots={SLOTS}
      rowHeight={ROW}
      instead={
        list.isPending ? (
          <Skeleton rows={SLOTS} height={ROW} />
        ) : list.data === undefined && list.error ? (
          <Trouble error={list.error} retry={() => void list.refetch()} />
        ) : list.data?.items.length === 0 ? (
          <EmptyState title="Nothing needs a look.">
            <p>No run is stuck or failed today, and no play waits for a person.</p>
          </EmptyState>
        ) : undefined
      }
      draw={(concern) => <ConcernRow concern={concern} />}
    />
  )
}

function ConcernRow({ concern }: { concern: Concern }) {
  const link = toConcern(concern)
  return (
    <div className="grid grid-cols-[264px_minmax(0,1fr)_96px] items-center gap-3 px-4 min-[1341px]:grid-cols-[264px_minmax(0,1fr)_60px_96px]">
      <span className="min-w-0">
        <ConcernState concern={concern} />
      </span>
      <span className="grid min-w-0">
        <Link {...link} className="cut leading-[18px] medium hover:underline">
          {plainLine(concern.title)}
        </Link>
        <span className="cut text-12 text-text-3" title={reasonOf(concern)}>
          {reasonOf(concern)}
        </span>
      </span>
      <span className="hidden text-right text-12 whitespace-nowrap text-text-3 min-[1341px]:block">
        <Age since={concern.since} />
      </span>
      <ConcernAction concern={concern} />
    </div>
  )
}
