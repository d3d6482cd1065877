import type { Execution } from '@/api/dashboard'
import { countOf } from '@/lib/numbers'
import { formatWhole } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { Command, EmptyState } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { wordsInRow } from '@/vocabulary/chainWords'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'
import { Age } from './Age'
import { type Column, ListPanel, type Paged } from './ListPanel'
import { toExecution } from './lists'
import { TwoLines } from './TwoLines'

const COLUMNS: readonly Column<Execution>[] = [
  {
    name: 'Invocation',
    isName: true,
    width: 'auto',
    draw: (one) => (
      <TwoLines name={one.title} link={toExecution(one)} says={`Since ${formatWhole(one.since)}`} />
    ),
  },
  { name: 'State', width: '304px', draw: (one) => <ExecutionState execution={one} /> },
  {
    name: 'Kind',
    width: '120px',
    isExtra: true,
    draw: ({ subject }) => (
      <span className="inline-flex items-center gap-2 text-text-2">
        <Icon name={subject === 'show' ? 'shows' : 'runs'} size={14} className="text-text-3" />
        {subject === 'show' ? 'Show' : 'Run'}
      </span>
    ),
  },
  {
    name: 'At work',
    width: '180px',
    draw: (one) => (
      <span className="text-text-2">
        {[
          ...(one.sessions > 0 ? [countOf(one.sessions, 'run')] : []),
          ...(one.plays > 0 ? [countOf(one.plays, 'play')] : []),
        ].join(' · ')}
      </span>
    ),
  },
  {
    name: 'For',
    width: '104px',
    isNumber: true,
    draw: (one) => <Age since={one.since} />,
  },
]

/** The state of its run that is worst off, which opens its evidence. */
function ExecutionState({ execution: { session_id, state, chain, heard_at } }: { execution: Execution }) {
  if (session_id === null || state === null) return <span className="text-text-3">–</span>
  return (
    <EvidencePopover runId={session_id}>
      <Chain words={wordsInRow(chain)} state={state} quietSince={heard_at} />
    </EvidencePopover>
  )
}

/** One row for each invocation that is at work. */
export function ExecutionList({ list }: { list: Paged<Execution> }) {
  return (
    <ListPanel
      label="Active executions"
      noun="invocation"
      list={list}
      columns={COLUMNS}
      idOf={(one) => `${one.subject} ${one.id}`}
      empty={
        <EmptyState title="Nothing is running.">
          <p>What ended is in the list of runs:</p>
          <Command>li runs ls</Command>
        </EmptyState>
      }
    />
  )
}
