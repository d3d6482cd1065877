import { Link } from '@tanstack/react-router'
import type { Play } from '@/api/shows'
import { plainLine } from '@/lib/plain'
import { EmptyState } from '@/ui/states'
import { PlayState } from '@/vocabulary/PlayState'
import { PlayUpdated } from '@/vocabulary/PlayUpdated'
import { type Column, ListPanel, type Paged } from './ListPanel'
import { toPlay } from './lists'
import { TwoLines } from './TwoLines'

const COLUMNS: readonly Column<Play>[] = [
  {
    name: 'Play',
    isName: true,
    width: 'auto',
    draw: (play) => <TwoLines name={play.name} link={toPlay(play.topic)} says={plainLine(play.topic)} />,
  },
  { name: 'State', width: '320px', draw: (play) => <PlayState play={play} /> },
  {
    name: 'Run',
    width: '220px',
    isExtra: true,
    draw: (play) =>
      play.session_id === null ? (
        <span className="text-text-3">–</span>
      ) : (
        <Link
          to="/runs/$runId"
          params={{ runId: play.session_id }}
          className="block overflow-hidden text-ellipsis whitespace-nowrap hover:underline"
        >
          {plainLine(play.session_name ?? play.session_id)}
        </Link>
      ),
  },
  {
    name: 'Updated',
    width: '112px',
    isNumber: true,
    draw: (play) => (
      <span className="text-text-2">
        <PlayUpdated play={play} />
      </span>
    ),
  },
]

/** One row for each play. */
export function PlayList({ list }: { list: Paged<Play> }) {
  return (
    <ListPanel
      label="Plays"
      noun="play"
      list={list}
      columns={COLUMNS}
      idOf={(play) => `${play.topic} / ${play.name}`}
      empty={
        <EmptyState title="No play is so now.">
          <p>
            <Link to="/shows" className="underline">
              All shows
            </Link>
          </p>
        </EmptyState>
      }
    />
  )
}
