import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { Run } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { formatCount, shortId } from '@/lib/numbers'
import { formatBrief, formatDuration } from '@/lib/time'
import { ActivityChip } from '@/vocabulary/ActivityChip'
import { Chain } from '@/vocabulary/Chain'
import { KIND_WORDS } from '@/vocabulary/looks'

const ROW = 44
const OVERSCAN = 12

export type RunColumn = 'kind' | 'activity' | 'size'

type Props = { runs: readonly Run[]; hidden?: ReadonlySet<RunColumn>; cursor?: number; onNear?: () => void }

/** Runs, one to a row of two lines. Only what can be seen is drawn, so that tens of thousands stay smooth. */
export function RunTable({ runs, hidden = new Set(), cursor = -1, onNear }: Props) {
  const body = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(body.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => runs[index]?.id ?? index,
  })
  const rows = virtual.getVirtualItems()
  const last = rows.at(-1)?.index ?? 0
  if (last >= runs.length - OVERSCAN) onNear?.()
  const template = [
    'minmax(0,1fr)',
    hidden.has('kind') ? null : '92px',
    '300px',
    hidden.has('activity') ? null : '150px',
    hidden.has('size') ? null : '132px',
    '104px',
  ].filter((part) => part !== null)
  return (
    <div
      role="table"
      aria-label="Runs"
      aria-rowcount={runs.length}
      style={{ '--columns': template.join(' ') } as never}
    >
      <div
        role="row"
        className="grid h-8 grid-cols-[var(--columns)] items-center gap-6 border-b border-line bg-sunken px-4 text-12 medium text-text-3"
      >
        <Head>Run</Head>
        {hidden.has('kind') ? null : <Head>Kind</Head>}
        <Head>State</Head>
        {hidden.has('activity') ? null : <Head>Activity</Head>}
        {hidden.has('size') ? null : <Head>Size</Head>}
        <Head right>Updated</Head>
      </div>
      <div ref={body} className="relative" style={{ height: virtual.getTotalSize() }}>
        {rows.map((row) => {
          const run = runs[row.index]
          if (run === undefined) return null
          return (
            <div
              key={row.key}
              role="row"
              aria-rowindex={row.index + 1}
              className={`absolute inset-x-0 grid grid-cols-[var(--columns)] items-center gap-6 border-b border-line px-4 hover:bg-hover ${row.index === cursor ? 'shadow-[inset_2px_0_0_var(--accent)]' : ''}`}
              style={{ height: ROW, transform: `translateY(${row.start - virtual.options.scrollMargin}px)` }}
            >
              <RunCells run={run} hidden={hidden} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

function Head({ children, right = false }: { children: ReactNode; right?: boolean }) {
  return (
    <span role="columnheader" className={right ? 'text-right' : ''}>
      {children}
    </span>
  )
}

function RunCells({ run, hidden }: { run: Run; hidden: ReadonlySet<RunColumn> }) {
  const now = useNow(run.updated_at)
  const took = run.duration_ms === null ? null : `ran ${formatDuration(run.duration_ms / 1000)}`
  return (
    <>
      <span role="cell" className="grid min-w-0">
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          className="cut leading-[18px] medium hover:underline"
        >
          {run.display_name}
        </Link>
        <span className="cut text-12 text-text-3">
          <span className="mono">{shortId(run.id)}</span>
          {provenance(run).map((part) => ` · ${part}`)}
        </span>
      </span>
      {hidden.has('kind') ? null : (
        <span role="cell" className="text-text-2">
          {run.provenance.kind === null ? '' : KIND_WORDS[run.provenance.kind]}
        </span>
      )}
      <span role="cell" className="min-w-0">
        <Chain words={run.chain} state={run.state} raw={run.status} />
      </span>
      {hidden.has('activity') ? null : (
        <span role="cell">
          <ActivityChip activity={run.activity} />
        </span>
      )}
      {hidden.has('size') ? null : (
        <span role="cell" className="whitespace-nowrap text-text-2">
          {formatCount(run.branch_count)} br · {formatCount(run.message_count)} msg
        </span>
      )}
      <span role="cell" className="grid text-right whitespace-nowrap">
        <span className="leading-[18px]">{formatBrief(now - run.updated_at)} ago</span>
        <span className="text-12 text-text-3">{took}</span>
      </span>
    </>
  )
}

function provenance(run: Run): string[] {
  const { show, play, playbook, agent } = run.provenance
  const source = show === null ? null : play === null ? show : `${show} / ${play}`
  return [source, playbook === null ? null : `playbook ${playbook}`, agent].filter((part) => part !== null)
}
