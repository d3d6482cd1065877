import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { CardGrid } from './Cards'

const LARGE = ['attention', 'executions', 'outcomes', 'latency']
const SMALL = ['stale', 'needs review', 'teams']
const BOX = 'overflow-hidden rounded-panel border border-line bg-surface'

/** The page before its numbers are there, each part as large as it will be. */
export function DashboardSkeleton() {
  return (
    <>
      <CardGrid
        small={SMALL.map((part) => (
          <div key={part} className={`h-16 ${BOX}`}>
            <Skeleton rows={1} height={62} />
          </div>
        ))}
      >
        {LARGE.map((part) => (
          <div key={part} className={`h-[218px] ${BOX}`}>
            <Skeleton rows={4} height={54} />
          </div>
        ))}
      </CardGrid>
      <div className={`min-h-9 ${BOX}`} />
      <div className="grid grid-cols-12 gap-4">
        <Panel title="Needs attention" className="col-span-12 wide:col-span-8">
          <Skeleton rows={7} height={52} />
        </Panel>
        <Panel title="Active now" className="col-span-12 wide:col-span-4">
          <Skeleton rows={7} height={52} />
        </Panel>
      </div>
    </>
  )
}
