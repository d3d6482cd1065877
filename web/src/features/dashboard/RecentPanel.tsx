import { Link } from '@tanstack/react-router'
import type { Run } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { formatCount, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatDuration } from '@/lib/time'
import { EmptyState } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { wordsInRow } from '@/vocabulary/chainWords'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'
import { provenanceOf } from '@/vocabulary/provenance'
import { LivePanel } from './LivePanel'
import { toLastEnded } from './lists'

const SLOTS = 7
const ROW = 44
const COLUMNS =
  'grid-cols-[minmax(0,1fr)_132px_72px] min-[640px]:grid-cols-[minmax(0,1fr)_210px_84px] min-[900px]:grid-cols-[minmax(0,1fr)_248px_104px_92px] gap-4 px-4'

/** The runs that ended last. */
export function RecentPanel({ runs }: { runs: readonly Run[] }) {
  return (
    <LivePanel
      className="col-span-12 wide:col-span-8"
      title="Recent runs"
      link={toLastEnded}
      rows={runs}
      slots={SLOTS}
      rowHeight={ROW}
      head={
        <div
          aria-hidden="true"
          className={`grid h-8 items-center border-b border-line bg-sunken text-12 medium text-text-3 ${COLUMNS}`}
        >
          <span>Run</span>
          <span>State</span>
          <span className="hidden min-[900px]:block">Size</span>
          <span className="text-right">Ended</span>
        </div>
      }
      instead={
        runs.length === 0 ? (
          <EmptyState title="No run has ended yet.">
            <p>The last ones to end are listed here.</p>
          </EmptyState>
        ) : undefined
      }
      draw={(run) => <RecentRow run={run} />}
    />
  )
}

function RecentRow({ run }: { run: Run }) {
  const ended = run.ended_at ?? run.updated_at
  const now = useNow(ended)
  return (
    <div className={`grid items-center ${COLUMNS}`}>
      <span className="grid min-w-0">
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          className="cut leading-[18px] medium hover:underline"
        >
          {plainLine(run.display_name)}
        </Link>
        <span className="cut text-12 text-text-3">
          <span className="mono">{shortId(run.id)}</span>
          {provenanceOf(run).map((part) => ` · ${part}`)}
        </span>
      </span>
      <span className="min-w-0">
        <EvidencePopover runId={run.id}>
          <Chain
            words={wordsInRow(run.chain)}
            state={run.state}
            raw={run.status}
            quietSince={run.last_message_at}
          />
        </EvidencePopover>
      </span>
      <span className="hidden whitespace-nowrap text-text-2 min-[900px]:block">
        {formatCount(run.branch_count)} br · {formatCount(run.message_count)} msg
      </span>
      <span className="grid text-right whitespace-nowrap">
        <span className="leading-[18px]">{formatBrief(now - ended)} ago</span>
        <span className="text-12 text-text-3">
          {run.duration_ms === null ? '' : `ran ${formatDuration(run.duration_ms / 1000)}`}
        </span>
      </span>
    </div>
  )
}
