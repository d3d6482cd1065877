import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Health, readyQuery } from '@/api/admin'
import { useConnection } from '@/api/live'
import { countOf, formatBytes, formatCount } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'

const LOW_SHARE = 0.05
const LOW_BYTES = 5e9 // less than this and less than a twentieth: a vacuum or an export may not fit any more

/** The database, its log, the disk and the line to here, in one row. Nothing is left out: what there is none of says so. */
export function SystemStrip({ health }: { health: Health }) {
  const { db, resources } = health
  return (
    <div
      role="group"
      aria-label="System"
      className="flex min-h-9 flex-wrap items-center gap-y-1 rounded-panel border border-line bg-surface px-4 py-1 text-12"
    >
      <Part label="DB" title={`${db.engine} ${db.version}, ${db.location}`}>
        {formatBytes(db.size_bytes)}
      </Part>
      <Part label="WAL" title={none(db.wal_bytes, db.engine)}>
        {sizeOf(db.wal_bytes)}
      </Part>
      <Part label="WAL pending" title={none(db.wal_pending_bytes, db.engine)}>
        {sizeOf(db.wal_pending_bytes)}
      </Part>
      <Part label="Connections" title={none(db.connections, db.engine)}>
        {db.connections === null ? '–' : formatCount(db.connections)}
      </Part>
      <Disk free={resources.disk_free_bytes} capacity={resources.disk_capacity_bytes} />
      <Stream />
      <span className="ml-auto inline-flex flex-wrap gap-x-3 py-1 whitespace-nowrap">
        <Word label="schema">{db.schema_version}</Word>
        {db.journal_mode === null ? null : <Word label="journal">{db.journal_mode}</Word>}
        {db.synchronous === null ? null : <Word label="sync">{db.synchronous}</Word>}
        {db.journal_mode === null ? <Word label="engine">{db.engine}</Word> : null}
      </span>
    </div>
  )
}

const LAST = 'inline-flex h-6 items-center gap-1.5 whitespace-nowrap'
const ITEM = `${LAST} mr-3.5 border-r border-line pr-3.5`

const sizeOf = (bytes: number | null): string => (bytes === null ? '–' : formatBytes(bytes))
const none = (value: number | null, engine: string): string | undefined =>
  value === null ? `${engine} tells of none` : undefined

type PartProps = { label: string; title?: string | undefined; children: ReactNode }

function Part({ label, title, children }: PartProps) {
  return (
    <span className={ITEM} title={title}>
      <span className="text-text-3">{label}</span>
      <b className="medium">{children}</b>
    </span>
  )
}

function Word({ label, children }: { label: string; children: ReactNode }) {
  return (
    <span>
      <span className="text-text-3">{label}</span> <b className="medium">{children}</b>
    </span>
  )
}

function Disk({ free, capacity }: { free: number | null; capacity: number | null }) {
  if (free === null || capacity === null) {
    return (
      <span className={ITEM}>
        <Icon name="unknown" size={14} className="text-text-3" />
        <b className="medium">Disk unknown</b>
      </span>
    )
  }
  const isLow = free < LOW_BYTES && free < capacity * LOW_SHARE
  return (
    <span className={`${isLow ? 't-warning' : 't-success'} ${ITEM}`}>
      <Icon name={isLow ? 'warning' : 'check'} size={14} className="text-tone" />
      <b className="medium">{isLow ? 'Disk nearly full' : 'Disk OK'}</b>
      <span className="text-text-3">{formatBytes(free)} free</span>
    </span>
  )
}

function Stream() {
  const connection = useConnection()
  const ready = useQuery(readyQuery)
  const isLive = connection.state === 'live' && !ready.data?.feed_problem
  return (
    <span className={`${isLive ? 't-success' : 't-warning'} ${LAST}`}>
      <span aria-hidden="true" className="size-[7px] flex-none rounded-full bg-tone" />
      <b className="medium">{isLive ? 'Stream live' : 'Stream away'}</b>
      <span className="text-text-3">
        {ready.data?.feed_problem ?? (ready.data === undefined ? '' : countOf(ready.data.streams, 'watcher'))}
      </span>
    </span>
  )
}
