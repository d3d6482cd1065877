import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { activeRunsQuery } from '@/api/dashboard'
import type { Run } from '@/api/runs'
import { plainLine } from '@/lib/plain'
import { Command, EmptyState, Skeleton } from '@/ui/states'
import { ActivityChip } from '@/vocabulary/ActivityChip'
import { Chain } from '@/vocabulary/Chain'
import { wordsInRow } from '@/vocabulary/chainWords'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'
import { KIND_WORDS } from '@/vocabulary/looks'
import { Trouble } from '@/vocabulary/Trouble'
import { useAge } from './Age'
import { personFirst } from './activity'
import { LivePanel } from './LivePanel'
import { toRunning } from './lists'

const SLOTS = 7
const ROW = 52
const WORDS = 2 // of a state: there is room for no more

/** What runs, and what each run waits for. */
export function ActivePanel({ running }: { running: number }) {
  const list = useQuery(activeRunsQuery(SLOTS))
  return (
    <LivePanel
      className="col-span-12 wide:col-span-4"
      title="Active now"
      count={running}
      link={toRunning}
      rows={personFirst(list.data ?? [])}
      slots={SLOTS}
      rowHeight={ROW}
      instead={
        list.isPending ? (
          <Skeleton rows={SLOTS} height={ROW} />
        ) : list.data === undefined && list.error ? (
          <Trouble error={list.error} retry={() => void list.refetch()} />
        ) : list.data?.length === 0 ? (
          <EmptyState title="Nothing is running.">
            <p>A run appears here while it happens. Those that have ended:</p>
            <Command>li runs ls</Command>
          </EmptyState>
        ) : undefined
      }
      draw={(run) => <ActiveRow run={run} />}
    />
  )
}

function ActiveRow({ run }: { run: Run }) {
  const { kind, agent } = run.provenance
  const words = [
    kind === null ? null : KIND_WORDS[kind],
    agent === null ? null : plainLine(agent),
    useAge(run.started_at ?? run.created_at),
  ]
  return (
    <div className="grid grid-cols-[minmax(50%,1fr)_minmax(0,auto)] items-center gap-3 px-4">
      <span className="grid min-w-0">
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          className="cut leading-[18px] medium hover:underline"
        >
          {plainLine(run.display_name)}
        </Link>
        <span className="cut text-12 text-text-3">{words.filter((word) => word !== null).join(' · ')}</span>
      </span>
      {run.activity === null || run.activity.kind === 'unknown' ? (
        // What does nothing has a state that says why.
        <span className="flex min-w-0 justify-end">
          <EvidencePopover runId={run.id}>
            <Chain
              words={wordsInRow(run.chain).slice(0, WORDS)}
              state={run.state}
              raw={run.status}
              quietSince={run.last_message_at}
            />
          </EvidencePopover>
        </span>
      ) : (
        <ActivityChip activity={run.activity} />
      )}
    </div>
  )
}
