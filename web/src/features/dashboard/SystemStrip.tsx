import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Stats } from '@/api/dashboard'
import { useConnection } from '@/api/live'
import { timeOfStudio } from '@/lib/clock'
import { formatBytes, formatCount } from '@/lib/numbers'
import { formatClock, formatMoment } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { Tip } from '@/ui/Tip'
import { toAdmin, toLegacy } from './lists'
import { type SystemWord, systemWord } from './system'

const LEGACY = 'Runs created before the current status vocabulary. Excluded from live operational metrics.'

/** How the studio itself is doing, in one line. Each part leads to the console that explains it. */
export function SystemStrip({ stats }: { stats: Stats }) {
  const { system } = stats
  const round = system.doctor.last_round
  const connection = useConnection()
  const awaySince = connection.state === 'offline' ? timeOfStudio(connection.since) : null
  return (
    <div
      role="group"
      aria-label="System"
      className="flex min-h-9 flex-wrap items-center rounded-panel border border-line bg-surface px-4 text-12 text-text-2 data-away:grayscale data-away:**:text-text-3!"
      data-away={awaySince === null ? undefined : true}
    >
      <Verdict word={awaySince === null ? systemWord(system) : awayWord(awaySince)} />
      <Part label="DB" title={system.engine} isSize>
        {formatBytes(system.db_size_bytes)}
      </Part>
      {/* SQLite is a file and has no connections, PostgreSQL tells nobody of its log: what is not there has no place. */}
      {system.wal_bytes === null ? null : (
        <Part label="WAL" isSize>
          {formatBytes(system.wal_bytes)}
        </Part>
      )}
      {system.connections === null ? null : (
        <Part label="Connections" isExtra>
          {formatCount(system.connections)}
        </Part>
      )}
      <Part label="Watchers" title="Windows and programs that follow the live feed" isExtra>
        {formatCount(system.sse_streams)}
      </Part>
      <Part label="Doctor" isExtra>
        {round === null ? 'looks now' : `checked ${formatMoment(round.ended_at, stats.at)}`}
      </Part>
      {stats.legacy === 0 ? null : <LegacyChip count={stats.legacy} />}
    </div>
  )
}

/** Without the studio nobody knows how it is doing: what is shown is what was. */
const awayWord = (since: number): SystemWord => ({
  isWell: true,
  tone: 'neutral',
  says: `as of ${formatClock(since)}`,
  because: 'The studio does not answer. These are the last numbers it gave.',
})

const ITEM = 'inline-flex h-6 items-center gap-1.5 border-l border-line px-3.5 whitespace-nowrap'

function Verdict({ word }: { word: SystemWord }) {
  return (
    <Link
      {...toAdmin}
      title={word.because}
      className={`t-${word.tone} inline-flex h-6 items-center gap-2 pr-3.5`}
    >
      {word.isWell ? (
        <span aria-hidden="true" className="size-[7px] rounded-full bg-tone" />
      ) : (
        <Icon name="warning" size={14} className="text-tone" />
      )}
      <b className="medium text-text">{word.says}</b>
    </Link>
  )
}

type PartProps = {
  label: string
  title?: string | undefined
  isExtra?: boolean
  isSize?: boolean
  children: ReactNode
}

function Part({ label, title, isExtra = false, isSize = false, children }: PartProps) {
  return (
    <Link
      {...toAdmin}
      title={title}
      className={`${ITEM} ${isExtra ? 'max-[999px]:hidden' : ''} hover:text-text`}
    >
      <span className="text-text-3">{label}</span>
      <b className={`medium text-text ${isSize ? 'min-w-14' : 'min-w-4'}`}>{children}</b>
    </Link>
  )
}

function LegacyChip({ count }: { count: number }) {
  return (
    <Tip text={LEGACY}>
      <Link
        {...toLegacy}
        data-number={count}
        aria-label={`Legacy unclassified: ${formatCount(count)}. ${LEGACY}`}
        className="ml-auto inline-flex h-6 items-center gap-[5px] rounded-chip border border-dashed border-line-strong px-1.5 whitespace-nowrap text-text-3 hover:border-line-control hover:text-text-2"
      >
        <Icon name="legacy" size={12} />
        Legacy unclassified {formatCount(count)}
      </Link>
    </Tip>
  )
}
