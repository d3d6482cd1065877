import { useState } from 'react'
import { useAct, useExport } from '@/actions/useAct'
import { checkpoint, type Health, runDoctor, vacuum } from '@/api/admin'
import { exportEverything } from '@/api/exports'
import { countOf, formatBytes } from '@/lib/numbers'
import { formatClock } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Menu, MenuItem } from '@/ui/Menu'
import { AgePruneDialog } from './AgePruneDialog'

type Props = { health: Health | undefined; isFetching: boolean; onRefresh: () => void }

/** What can be done to the whole: look again, look after the database, take a copy, delete what is old. */
export function ActionRow({ health, isFetching, onRefresh }: Props) {
  const [isPruning, setPruning] = useState(false)
  const doctor = useAct({
    working: 'The doctor makes a round',
    act: runDoctor,
    done: ({ looked_at, changed }) => ({
      title: `The doctor looked at ${countOf(looked_at, 'running run')}`,
      text:
        changed === 0 ? 'Nothing is otherwise than before.' : `${countOf(changed, 'run')} changed health.`,
    }),
    failed: 'The doctor could not look',
  })
  const move = useAct({
    working: 'Moving the log into the database',
    act: checkpoint,
    done: (done) => ({
      title: done.busy ? 'Checkpoint was in somebody’s way' : 'Checkpoint completed',
      text: `${countOf(done.pages_moved, 'page')} written back, WAL ${formatBytes(done.wal_bytes_before)} to ${formatBytes(done.wal_bytes_after)}.`,
    }),
    failed: 'No checkpoint was made',
  })
  const shrink = useAct({
    working: 'Vacuuming the database',
    act: vacuum,
    done: ({ before, after, sentence }) => ({
      title: 'Vacuum completed',
      text: sentence ?? `${formatBytes(before.size_bytes)} to ${formatBytes(after.size_bytes)}.`,
    }),
    failed: 'The database was not vacuumed',
  })
  const snapshot = useExport('a snapshot', () => exportEverything('sqlite'))
  const lines = useExport('everything as JSON lines', () => exportEverything('jsonl'))
  const noCheckpoint = health !== undefined && health.db.wal_bytes === null
  const isExporting = snapshot.isPending || lines.isPending
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <h1 className="text-20 strong">Admin</h1>
      <p className="text-text-3">Studio maintenance and diagnostics</p>
      <div className="ml-auto flex flex-wrap items-center gap-2">
        <span role="status" className="mr-1 min-w-[104px] text-right text-12 text-text-3">
          {health === undefined ? '' : `Checked ${formatClock(Date.parse(health.diagnostic_run_at) / 1000)}`}
        </span>
        <Button onClick={onRefresh} disabled={isFetching}>
          <Icon name="refresh" size={14} />
          Refresh
        </Button>
        <Button onClick={() => doctor.mutate()} disabled={doctor.isPending}>
          <Icon name="pulse" size={14} />
          Doctor now
        </Button>
        {noCheckpoint ? (
          <span id="why-no-checkpoint" className="text-12 text-text-3">
            {health.maintenance.checkpoint.sentence}
          </span>
        ) : null}
        <Button
          onClick={() => move.mutate()}
          disabled={move.isPending || noCheckpoint}
          {...(noCheckpoint ? { 'aria-describedby': 'why-no-checkpoint' } : {})}
        >
          <Icon name="database" size={14} />
          Checkpoint WAL
        </Button>
        <Button onClick={() => shrink.mutate()} disabled={shrink.isPending}>
          Vacuum DB
        </Button>
        <Menu
          trigger={
            <Button disabled={isExporting}>
              <Icon name="download" size={14} />
              Export snapshot
              <Icon name="down" size={12} className="text-text-3" />
            </Button>
          }
        >
          <MenuItem onSelect={() => snapshot.mutate()}>SQLite file, a verified copy</MenuItem>
          <MenuItem onSelect={() => lines.mutate()}>JSON lines, everything</MenuItem>
        </Menu>
        <Button look="ghost" onClick={() => setPruning(true)}>
          Prune…
        </Button>
      </div>
      {isPruning ? <AgePruneDialog onClose={() => setPruning(false)} /> : null}
    </div>
  )
}
