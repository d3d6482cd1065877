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
            <p>No run is stuck or failed in the last 24 hours, and no play waits for a person.</p>
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
    // Where the three have no room beside each other, the state stands below the name, and its reason one click away.
    <div className="grid grid-cols-[minmax(0,1fr)_96px] items-center gap-x-3 px-4 @min-[640px]:grid-cols-[264px_minmax(0,1fr)_96px] min-[1341px]:@min-[640px]:grid-cols-[264px_minmax(0,1fr)_60px_96px]">
      <span className="order-1 flex min-w-0 @min-[640px]:order-none">
        <ConcernState concern={concern} />
      </span>
      <span className="grid min-w-0">
        <Link {...link} className="cut leading-[18px] medium hover:underline">
          {plainLine(concern.title)}
        </Link>
        <span className="cut hidden text-12 text-text-3 @min-[640px]:block" title={reasonOf(concern)}>
          {reasonOf(concern)}
        </span>
      </span>
      <span className="hidden text-right text-12 whitespace-nowrap text-text-3 min-[1341px]:block">
        <Age since={concern.since} />
      </span>
      <span className="row-span-2 flex @min-[640px]:row-span-1">
        <ConcernAction concern={concern} />
      </span>
    </div>
  )
}
