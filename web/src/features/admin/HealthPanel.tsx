import { Link } from '@tanstack/react-router'
import type { Health } from '@/api/admin'
import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { countOf, formatCount } from '@/lib/numbers'
import { formatDuration, formatMoment } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { HEALTH_COUNT_LOOKS } from '@/vocabulary/admin'
import { HEALTH_WORDS } from '@/vocabulary/looks'

const HEALTHS = [
  'healthy',
  'idle',
  'unresponsive',
  'stale',
  'orphaned',
  'zombie',
] as const satisfies Schema['Health'][]
const SQUARES = 30 // then a number says how many more

/** How many runs there are of each health. One square is one run, so that 1 and 3 look like 1 and 3 beside 1,276. */
export function HealthPanel({ health, className = '' }: { health: Health; className?: string }) {
  const { sessions } = health
  const count = (word: Schema['Health']) => sessions.by_health[word] ?? 0 // none of them is one that nobody counted
  const running = count('healthy') - sessions.ended
  return (
    <Panel
      title="Session health"
      beside={
        <span className="text-12 whitespace-nowrap text-text-3">
          {countOf(sessions.total, 'run')}, {formatCount(sessions.by_status.running ?? 0)} running
        </span>
      }
      more={<Doctor doctor={health.doctor} />}
      className={`overflow-hidden ${className}`}
    >
      <ul className="@container py-2">
        {HEALTHS.map((word) => (
          <Line
            key={word}
            word={word}
            count={count(word)}
            squares={word === 'healthy' ? running : count(word)}
            says={
              word === 'healthy'
                ? `${formatCount(running)} running, ${formatCount(sessions.ended)} ended`
                : HEALTH_COUNT_LOOKS[word].says
            }
          />
        ))}
      </ul>
    </Panel>
  )
}

type LineProps = { word: Schema['Health']; count: number; squares: number; says: string }

function Line({ word, count, squares, says }: LineProps) {
  const look = HEALTH_COUNT_LOOKS[word]
  const shown = Math.min(squares, SQUARES)
  return (
    <li>
      <Link
        to="/runs"
        search={{ health: word }}
        data-number={count}
        className={`t-${look.tone} grid h-8 grid-cols-[14px_92px_52px_minmax(0,1fr)] items-center @min-[520px]:grid-cols-[14px_92px_52px_minmax(120px,1fr)_minmax(0,auto)] gap-3 px-4 hover:bg-hover ${count === 0 ? 'text-text-3' : ''}`}
      >
        <Icon name={look.icon} size={14} className={count === 0 ? '' : 'text-tone'} />
        <span className="medium">{HEALTH_WORDS[word]}</span>
        <b className="strong text-right">{formatCount(count)}</b>
        <span
          aria-hidden="true"
          className="hidden h-2.5 flex-wrap gap-[3px] overflow-hidden pl-3 @min-[520px]:flex"
        >
          {Array.from({ length: shown }, (_, square) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: one is like the other
            <i key={square} data-unit className="size-2.5 rounded-[2px] bg-tone" />
          ))}
          {squares > shown ? (
            <span className="text-11 leading-[10px] text-text-3">+{formatCount(squares - shown)}</span>
          ) : null}
        </span>
        <span className="cut text-right text-12 text-text-3">{says}</span>
      </Link>
    </li>
  )
}

/** When the doctor looked last, and whether it can. */
function Doctor({ doctor }: { doctor: Schema['DoctorOut'] }) {
  const now = useNow(doctor.last_round?.ended_at ?? null)
  const every = `every ${formatDuration(doctor.every_seconds)}`
  if (!doctor.is_running || doctor.failures_in_a_row > 0) {
    const sentence = doctor.last_failure?.sentence ?? 'Health is judged only when somebody asks.'
    return (
      <span
        role="alert"
        className="t-warning flex min-w-0 items-center gap-1.5 text-tone-fg"
        title={sentence}
      >
        <Icon name="warning" size={14} className="text-tone" />
        <span className="cut">
          {doctor.is_running
            ? `The doctor failed ${countOf(doctor.failures_in_a_row, 'time')}`
            : 'The doctor does not run'}
          : {sentence}
        </span>
      </span>
    )
  }
  const last = doctor.last_round
  return (
    <span className="cut mr-1">
      {last === null
        ? `Doctor looks ${every}`
        : `Doctor looked ${formatMoment(last.ended_at, now)}, ${every}`}
      , never changes a status
    </span>
  )
}
