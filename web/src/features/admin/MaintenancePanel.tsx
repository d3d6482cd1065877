import { type ReactNode, useState } from 'react'
import { useExport } from '@/actions/useAct'
import type { Health } from '@/api/admin'
import type { Schema } from '@/api/client'
import { exportLegacy } from '@/api/exports'
import { useNow } from '@/lib/clock'
import { formatBytes, formatCount } from '@/lib/numbers'
import { formatMoment } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Icon, type IconName } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Tip } from '@/ui/Tip'
import { ArchiveDialog, BackfillDialog } from './LegacyDialogs'

const LEGACY = 'Runs created before the current status vocabulary. Excluded from live operational metrics.'

/** What may be done for the database, by which numbers, and when it was done last. */
export function MaintenancePanel({ health, className = '' }: { health: Health; className?: string }) {
  const now = useNow()
  const { maintenance, db } = health
  const pending = db.wal_bytes === null ? 0 : (db.wal_pending_bytes ?? 0)
  const isDue = maintenance.checkpoint.recommended
  return (
    <Panel title="Maintenance" className={`flex flex-col ${className}`}>
      <ul className="grid flex-1 grid-cols-[minmax(0,1fr)] content-evenly py-2">
        <Line
          icon={isDue ? 'warning' : pending > 0 ? 'info' : 'check'}
          isDue={isDue}
          says={
            isDue
              ? 'WAL checkpoint recommended'
              : pending > 0
                ? 'WAL checkpoint available'
                : 'No checkpoint needed'
          }
          why={maintenance.checkpoint.sentence}
        >
          {db.wal_bytes === null
            ? maintenance.checkpoint.sentence
            : pending > 0
              ? `${formatBytes(pending)} pending`
              : 'nothing pending'}
        </Line>
        <Last what="Last checkpoint" event={maintenance.checkpoint.last} now={now} />
        <Line
          icon={maintenance.vacuum.recommended ? 'warning' : 'check'}
          isDue={maintenance.vacuum.recommended}
          says={`Vacuum recommended: ${maintenance.vacuum.recommended ? 'yes' : 'no'}`}
          why={maintenance.vacuum.sentence}
        >
          {db.freelist_count === null || db.page_count === null
            ? `${formatCount(db.dead_rows ?? 0)} dead rows`
            : `${formatCount(db.freelist_count)} of ${formatCount(db.page_count)} pages free`}
        </Line>
        <Line icon="download" says="Export size estimate">
          {formatBytes(maintenance.export_bytes)}
        </Line>
        <Legacy count={health.sessions.legacy} />
      </ul>
    </Panel>
  )
}

type LineProps = { icon: IconName; says: string; why?: string; isDue?: boolean; children: ReactNode }

function Line({ icon, says, why, isDue = false, children }: LineProps) {
  const tone = isDue ? 't-warning text-tone' : icon === 'check' ? 't-success text-tone' : 'text-text-3'
  return (
    <li title={why} className="flex min-h-[34px] items-center gap-2.5 px-4">
      <Icon name={icon} size={14} className={tone} />
      <span className="cut flex-none">{says}</span>
      <span className="cut ml-auto text-12 text-text-3">{children}</span>
    </li>
  )
}

function Last({ what, event, now }: { what: string; event: Schema['EventOut'] | null; now: number }) {
  const mode = event?.details.mode
  return (
    <Line icon={event === null ? 'info' : 'check'} says={what}>
      {event === null
        ? 'none in the event log'
        : [formatMoment(event.created_at, now), typeof mode === 'string' ? mode : null, event.actor]
            .filter((part) => part !== null)
            .join(', ')}
    </Line>
  )
}

function Legacy({ count }: { count: number }) {
  const [dialog, setDialog] = useState<'backfill' | 'archive' | null>(null)
  const save = useExport('legacy runs', exportLegacy)
  const close = () => setDialog(null)
  const none = count === 0
  return (
    <li className="flex min-h-[34px] flex-wrap items-center gap-x-2.5 gap-y-1 px-4">
      <Icon name="legacy" size={14} className="text-text-3" />
      <Tip text={LEGACY}>
        <button type="button" className="cursor-help rounded-chip">
          Legacy unclassified: {formatCount(count)}
        </button>
      </Tip>
      <span className="ml-auto flex items-center gap-1">
        {none ? (
          <span id="why-no-legacy" className="mr-1 text-12 text-text-3">
            every run has a status
          </span>
        ) : null}
        <LegacyButton none={none} onClick={() => setDialog('backfill')}>
          Backfill…
        </LegacyButton>
        <LegacyButton none={none} onClick={() => setDialog('archive')}>
          Archive…
        </LegacyButton>
        <LegacyButton none={none || save.isPending} onClick={() => save.mutate()} name="Export legacy runs">
          Export
        </LegacyButton>
      </span>
      {dialog === 'backfill' ? <BackfillDialog count={count} onClose={close} /> : null}
      {dialog === 'archive' ? <ArchiveDialog onClose={close} /> : null}
    </li>
  )
}

type LegacyButtonProps = { none: boolean; onClick: () => void; name?: string; children: ReactNode }

function LegacyButton({ none, onClick, name, children }: LegacyButtonProps) {
  return (
    <Button
      size="small"
      disabled={none}
      onClick={onClick}
      aria-label={name}
      {...(none ? { 'aria-describedby': 'why-no-legacy' } : {})}
    >
      {children}
    </Button>
  )
}
