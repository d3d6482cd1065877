import { Link } from '@tanstack/react-router'
import type { Concern, Signal } from '@/api/dashboard'
import { Command, EmptyState } from '@/ui/states'
import { SIGNAL_WORDS } from '@/vocabulary/signals'
import { Age } from './Age'
import { ConcernAction } from './ConcernAction'
import { ConcernState } from './ConcernState'
import { reasonOf } from './concerns'
import { type Column, ListPanel, type Paged } from './ListPanel'
import { toConcern } from './lists'
import { TwoLines } from './TwoLines'

const COLUMNS: readonly Column<Concern>[] = [
  { name: 'State', width: '304px', draw: (concern) => <ConcernState concern={concern} /> },
  {
    name: 'What',
    isName: true,
    width: 'auto',
    draw: (concern) => <TwoLines name={concern.title} link={toConcern(concern)} says={reasonOf(concern)} />,
  },
  {
    name: 'Signals',
    width: '200px',
    isExtra: true,
    draw: ({ signals }) => (
      <span className="text-12 text-text-2">{signals.map((one) => SIGNAL_WORDS[one]).join(', ')}</span>
    ),
  },
  {
    name: 'Since',
    width: '88px',
    isNumber: true,
    draw: (concern) => (
      <span className="text-text-2">
        <Age since={concern.since} />
      </span>
    ),
  },
  {
    name: 'Action',
    width: '128px',
    isNumber: true,
    draw: (concern) => <ConcernAction concern={concern} />,
  },
]

/** One row for each thing that needs a look. */
export function AttentionList({ list, signal }: { list: Paged<Concern>; signal: Signal | undefined }) {
  return (
    <ListPanel
      label="Attention"
      noun="thing"
      list={list}
      columns={COLUMNS}
      idOf={(concern) => `${concern.subject} ${concern.id}`}
      empty={
        signal === undefined ? (
          <EmptyState title="Nothing needs a look.">
            <p>
              No run is stuck or failed in the last 24 hours, and no play waits for a person. To look again
              now:
            </p>
            <Command>li state doctor</Command>
          </EmptyState>
        ) : (
          <EmptyState title={`Nothing is ${SIGNAL_WORDS[signal]}.`}>
            <p>
              <Link to="/attention" search={{}} className="underline">
                Everything that needs a look
              </Link>
            </p>
          </EmptyState>
        )
      }
    />
  )
}
