import type { ReactNode } from 'react'
import type { Stats } from '@/api/dashboard'
import { countOf, formatCount } from '@/lib/numbers'
import { StackBar } from '@/ui/StackBar'
import { HEALTH_TONES, HEALTH_WORDS } from '@/vocabulary/looks'
import { SIGNAL_SENTENCES, SIGNAL_TONES, SIGNAL_WORDS, SIGNALS } from '@/vocabulary/signals'
import { Age } from './Age'
import { Card, Legend, NumberLink } from './Card'
import { LatencyCard } from './LatencyCard'
import {
  toActiveTeams,
  toAttention,
  toExecutions,
  toNeedsReview,
  toRunning,
  toRunningOf,
  toWorkingPlays,
} from './lists'
import { OutcomesCard } from './OutcomesCard'

const RUNNING_HEALTHS = ['healthy', 'idle', 'unresponsive', 'stale', 'orphaned'] as const

/** The numbers that an operator looks at first. */
export function Cards({ stats }: { stats: Stats }) {
  return (
    <CardGrid
      small={
        <>
          <Card
            size="small"
            label="Stale"
            link={toRunningOf('stale')}
            count={stats.stale}
            value={formatCount(stats.stale)}
            noun={stats.stale === 1 ? 'run' : 'runs'}
          />
          <Card
            size="small"
            label="Needs review"
            link={toNeedsReview}
            count={stats.needs_review}
            value={formatCount(stats.needs_review)}
            noun={stats.needs_review === 1 ? 'run' : 'runs'}
          />
          <Card
            size="small"
            label="Teams active"
            link={toActiveTeams}
            count={stats.teams_active}
            value={formatCount(stats.teams_active)}
            noun={stats.teams_active === 1 ? 'team' : 'teams'}
          />
        </>
      }
    >
      <AttentionCard numbers={stats.attention} />
      <ExecutionsCard numbers={stats.executions} />
      <OutcomesCard numbers={stats.outcomes_24h} hours={stats.hours} />
      <LatencyCard numbers={stats.latency_24h} durations={stats.durations} />
    </CardGrid>
  )
}

/** Five columns; four and a row; two by two; one below the other. */
export function CardGrid({ children, small }: { children: ReactNode; small: ReactNode }) {
  return (
    <section
      aria-label="Key numbers"
      className="grid gap-3 min-[640px]:grid-cols-2 min-[1180px]:grid-cols-[1.2fr_1fr_1fr_1fr] min-[1341px]:grid-cols-[1.24fr_1.02fr_1.08fr_1fr_0.78fr]"
    >
      {children}
      <div className="col-span-full grid grid-cols-3 content-between gap-3 min-[1341px]:col-span-1 min-[1341px]:grid-cols-1">
        {small}
      </div>
    </section>
  )
}

function AttentionCard({ numbers }: { numbers: Stats['attention'] }) {
  const items = SIGNALS.map((signal) => ({
    label: SIGNAL_WORDS[signal],
    count: numbers.by_signal[signal] ?? 0,
    tone: SIGNAL_TONES[signal],
    link: toAttention(signal),
    title: SIGNAL_SENTENCES[signal],
  }))
  return (
    <Card
      label="Attention"
      link={toAttention()}
      count={numbers.total}
      value={formatCount(numbers.total)}
      noun={numbers.total === 1 ? 'needs a look' : 'need a look'}
      foot={
        numbers.oldest_at === null ? (
          'Nothing needs a look'
        ) : (
          <>
            <span>
              Oldest{' '}
              <b className="medium text-text-2">
                <Age since={numbers.oldest_at} />
              </b>
            </span>
            <span className="cut" title="Above, a thing stands under each of its signals.">
              counts each thing once
            </span>
          </>
        )
      }
    >
      <StackBar parts={items} className="mb-1" />
      <Legend items={items} columns="minmax(0,2fr) minmax(0,3fr)" />
    </Card>
  )
}

function ExecutionsCard({ numbers }: { numbers: Stats['executions'] }) {
  const items = RUNNING_HEALTHS.map((health) => ({
    label: HEALTH_WORDS[health].toLowerCase(),
    count: numbers.by_health[health] ?? 0,
    tone: HEALTH_TONES[health],
    link: toRunningOf(health),
  }))
  return (
    <Card
      label="Active executions"
      link={toExecutions}
      count={numbers.invocations}
      value={formatCount(numbers.invocations)}
      noun={numbers.invocations === 1 ? 'invocation' : 'invocations'}
      foot={
        numbers.oldest_at === null ? (
          'Nothing is running'
        ) : (
          <span>
            Oldest active{' '}
            <b className="medium text-text-2">
              <Age since={numbers.oldest_at} />
            </b>
          </span>
        )
      }
    >
      <StackBar parts={items} className="mb-1" />
      <p className="flex items-center gap-1.5 text-12 text-text-2">
        <NumberLink count={numbers.sessions} link={toRunning}>
          {countOf(numbers.sessions, 'run')}
        </NumberLink>
        <span className="text-text-off">·</span>
        <NumberLink count={numbers.plays} link={toWorkingPlays}>
          {countOf(numbers.plays, 'play')}
        </NumberLink>
      </p>
      <Legend items={items} columns="minmax(0,3fr) minmax(0,2fr)" />
    </Card>
  )
}
