import { Link } from '@tanstack/react-router'
import type { RefusedPlay } from '@/api/dashboard'
import { plainLine } from '@/lib/plain'
import { Icon } from '@/ui/Icon'
import { EmptyState } from '@/ui/states'
import { Age } from './Age'
import { type Column, ListPanel, type Paged } from './ListPanel'
import { toPlay } from './lists'
import { TwoLines } from './TwoLines'

const COLUMNS: readonly Column<RefusedPlay>[] = [
  {
    name: 'Play',
    isName: true,
    width: '30%',
    draw: (play) => <TwoLines name={play.name} link={toPlay(play.topic)} says={plainLine(play.topic)} />,
  },
  {
    name: 'What the gate said',
    width: 'auto',
    draw: (play) => {
      const said = plainLine(play.gate_feedback ?? '') || 'It gave no feedback.'
      return (
        <span className="flex min-w-0 items-center gap-2 text-text-2">
          <Icon name="gate_failed" size={14} className="t-danger text-tone" />
          <span className="cut" title={said}>
            {said}
          </span>
        </span>
      )
    },
  },
  { name: 'Attempt', width: '88px', isNumber: true, draw: (play) => play.attempt },
  {
    name: 'Run',
    width: '96px',
    isExtra: true,
    draw: (play) =>
      play.session_id === null ? (
        <span className="text-text-3">–</span>
      ) : (
        <Link to="/runs/$runId" params={{ runId: play.session_id }} className="hover:underline">
          Open run
        </Link>
      ),
  },
  {
    name: 'Ended',
    width: '104px',
    isNumber: true,
    draw: (play) =>
      play.ended_at === null ? (
        '–'
      ) : (
        <>
          <Age since={play.ended_at} /> ago
        </>
      ),
  },
]

/** One row for each play that its gate refused. */
export function RefusedList({ list }: { list: Paged<RefusedPlay> }) {
  return (
    <ListPanel
      label="Request changes"
      noun="play"
      list={list}
      columns={COLUMNS}
      idOf={(play) => `${play.topic} / ${play.name}`}
      empty={
        <EmptyState title="No gate asked for changes in the last 24 hours.">
          <p>A play that its gate refuses is listed here, with what the gate said.</p>
        </EmptyState>
      }
    />
  )
}
