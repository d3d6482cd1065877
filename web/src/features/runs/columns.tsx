import { Link } from '@tanstack/react-router'
import { columnVisibilityFeature, createColumnHelper, tableFeatures } from '@tanstack/react-table'
import type { Run } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { formatCost, formatCount, formatTokens, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatDuration, formatWhole } from '@/lib/time'
import { Checkbox } from '@/ui/Checkbox'
import { ActivityChip } from '@/vocabulary/ActivityChip'
import { Chain } from '@/vocabulary/Chain'
import { wordsInRow } from '@/vocabulary/chainWords'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'
import { KIND_WORDS } from '@/vocabulary/looks'
import { provenanceOf } from '@/vocabulary/provenance'

/** A run as its row shows it. */
export type RunRowView = {
  run: Run
  isSelected: boolean
  /** It no longer belongs to the list, and stays until somebody asks for the list as it is. */
  hasLeft: boolean
  isEvidenceOpen: boolean
  onSelect: (isRange: boolean) => void
  onEvidence: (isOpen: boolean) => void
}

type ColumnLook = { width: string; narrow?: string; right?: boolean }

export const features = tableFeatures({ columnVisibilityFeature, columnMeta: {} as ColumnLook })
const column = createColumnHelper<typeof features, RunRowView>()

export const columns = column.columns([
  column.display({
    id: 'select',
    enableHiding: false,
    meta: { width: '24px' },
    cell: ({ row: { original } }) => (
      <Checkbox
        label={`Select ${plainLine(original.run.display_name)}`}
        checked={original.isSelected}
        onChange={(_, event) => original.onSelect(event?.shiftKey ?? false)}
      />
    ),
  }),
  column.display({
    id: 'name',
    header: 'Run',
    enableHiding: false,
    meta: { width: 'minmax(140px,1fr)', narrow: 'minmax(90px,1fr)' },
    cell: ({ row: { original } }) => <NameCell run={original.run} hasLeft={original.hasLeft} />,
  }),
  column.display({
    id: 'kind',
    header: 'Kind',
    meta: { width: '76px' },
    cell: ({ row: { original } }) => {
      const { kind } = original.run.provenance
      return <span className="cut text-text-2">{kind === null ? '–' : KIND_WORDS[kind]}</span>
    },
  }),
  column.display({
    id: 'state',
    header: 'State',
    enableHiding: false,
    meta: { width: 'minmax(160px,264px)', narrow: 'minmax(90px,252px)' },
    cell: ({ row: { original } }) => <StateCell view={original} />,
  }),
  column.display({
    id: 'activity',
    header: 'Activity',
    meta: { width: '156px', narrow: '148px' },
    cell: ({ row: { original } }) => <ActivityChip activity={original.run.activity} />,
  }),
  column.display({
    id: 'size',
    header: 'Size',
    meta: { width: '124px' },
    cell: ({ row: { original } }) => (
      <span className="cut text-text-2">
        {formatCount(original.run.branch_count)} br · {formatCount(original.run.message_count)} msg
      </span>
    ),
  }),
  column.display({
    id: 'tokens',
    header: 'Tokens',
    meta: { width: '72px', right: true },
    cell: ({ row: { original } }) => <Tokens run={original.run} />,
  }),
  column.display({
    id: 'cost',
    header: 'Cost',
    meta: { width: '64px', right: true },
    cell: ({ row: { original } }) => {
      const cost = original.run.usage.cost_usd
      return <span className="text-text-2">{cost === null ? '–' : formatCost(cost)}</span>
    },
  }),
  column.display({
    id: 'updated',
    header: 'Updated',
    meta: { width: '92px', narrow: '76px', right: true },
    cell: ({ row: { original } }) => <UpdatedCell run={original.run} />,
  }),
])

function NameCell({ run, hasLeft }: { run: Run; hasLeft: boolean }) {
  const name = plainLine(run.display_name)
  const parts = [...(hasLeft ? ['no longer matches'] : []), ...provenanceOf(run)]
  return (
    <span className="grid min-w-0">
      <Link
        to="/runs/$runId"
        params={{ runId: run.id }}
        title={name}
        className={`cut w-fit max-w-full leading-[18px] medium hover:underline ${hasLeft ? 'text-text-3' : ''}`}
      >
        <bdi>{name}</bdi>
      </Link>
      <span className="cut text-12 text-text-3">
        <span className="mono">{shortId(plainLine(run.id))}</span>
        {parts.map((part) => (
          <span key={part}>
            {' · '}
            <bdi>{part}</bdi>
          </span>
        ))}
      </span>
    </span>
  )
}

function StateCell({ view: { run, isEvidenceOpen, onEvidence } }: { view: RunRowView }) {
  return (
    <EvidencePopover runId={run.id} open={isEvidenceOpen} onOpenChange={onEvidence}>
      <Chain
        words={wordsInRow(run.chain)}
        state={run.state}
        raw={run.status}
        quietSince={run.last_message_at}
      />
    </EvidencePopover>
  )
}

function Tokens({ run: { usage } }: { run: Run }) {
  const total = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
  const told = `${formatCount(usage.input_tokens)} in, ${formatCount(usage.output_tokens)} out, ${formatCount(usage.cache_read_tokens)} from the cache`
  return (
    <span className="text-text-2" title={total === 0 ? undefined : told}>
      {total === 0 ? '–' : formatTokens(total)}
    </span>
  )
}

function UpdatedCell({ run }: { run: Run }) {
  const now = useNow(run.updated_at)
  return (
    <span className="grid text-right whitespace-nowrap" title={formatWhole(run.updated_at)}>
      <span className="leading-[18px] text-text-2">{formatBrief(now - run.updated_at)} ago</span>
      <span className="text-12 text-text-3">{lengthOf(run, now)}</span>
    </span>
  )
}

function lengthOf(run: Run, now: number): string {
  if (run.duration_ms !== null) return `ran ${formatDuration(run.duration_ms / 1000)}`
  if (run.status !== 'running' || run.started_at === null) return '–'
  return `ran ${formatDuration(now - run.started_at)}`
}
