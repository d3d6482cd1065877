import { lazy, Suspense, useState } from 'react'
import type { Stats } from '@/api/dashboard'
import { countOf, formatCount } from '@/lib/numbers'
import { formatTime } from '@/lib/time'
import { ChartWithTable } from '@/ui/charts/ChartWithTable'
import { type Pointed, ReadOut } from '@/ui/charts/ReadOut'
import { STATUS_TONES, STATUS_WORDS } from '@/vocabulary/looks'
import { Card, Legend } from './Card'
import { toEndedAs, toRequestChanges } from './lists'

const TimeBars = lazy(() => import('@/ui/charts/TimeBars'))
const HEIGHT = 54
const AXIS = 14 // px of it for the words below the bars
// From the ground up: what went well carries what did not.
const ENDINGS = ['completed', 'aborted', 'cancelled', 'timed_out', 'failed'] as const

type Props = { numbers: Stats['outcomes_24h']; hours: Stats['hours'] }

/** What came of the last 24 hours. */
export function OutcomesCard({ numbers, hours }: Props) {
  const items = [
    { label: 'failed', count: numbers.failed, tone: STATUS_TONES.failed, link: toEndedAs('failed') },
    {
      label: 'timed out',
      count: numbers.timed_out,
      tone: STATUS_TONES.timed_out,
      link: toEndedAs('timed_out'),
    },
    {
      label: 'request changes',
      count: numbers.request_changes,
      tone: 'review',
      link: toRequestChanges,
      isWide: true,
      title: 'Plays whose gate asked for changes',
    },
  ]
  return (
    <Card
      label="Outcomes 24h"
      link={toEndedAs('completed')}
      count={numbers.completed}
      value={formatCount(numbers.completed)}
      noun="completed"
      foot={<PassRate rate={numbers.pass_rate} />}
    >
      <RunsOverTime hours={hours} />
      <div className="mt-1">
        <Legend items={items} columns="minmax(0,1fr) minmax(0,1fr)" />
      </div>
    </Card>
  )
}

function PassRate({ rate }: { rate: number | null }) {
  if (rate === null) return 'No run has ended'
  return (
    <span title="Completed, of all that completed, failed, timed out or were sent back">
      Pass rate <b className="medium text-text-2">{(rate * 100).toFixed(1)} %</b>
    </span>
  )
}

function RunsOverTime({ hours }: { hours: Stats['hours'] }) {
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const countIn = (hour: Stats['hours'][number], status: (typeof ENDINGS)[number]) =>
    hour.by_status[status] ?? 0
  const series = ENDINGS.map((status) => ({
    label: STATUS_WORDS[status].toLowerCase(),
    tone: STATUS_TONES[status],
    values: hours.map((hour) => countIn(hour, status)),
  }))
  const timeOf = (index: number) => formatTime(hours[index]?.starts_at ?? 0)
  const readOut = (index: number) => {
    const there = series.filter((one) => (one.values[index] ?? 0) > 0)
    const words = there.map((one) => `${one.values[index]} ${one.label}`).join(', ')
    return `From ${timeOf(index)}: ${words || 'none ended'}`
  }
  const total = series.reduce((sum, one) => sum + one.values.reduce((all, value) => all + value, 0), 0)
  return (
    <ChartWithTable
      sentence={`Runs that ended in each of the last 24 hours, by outcome: ${countOf(total, 'run')}.`}
      height={HEIGHT}
      head={['From', ...ENDINGS.map((status) => STATUS_WORDS[status])]}
      rows={hours.map((hour, index) => [
        timeOf(index),
        ...ENDINGS.map((status) => formatCount(countIn(hour, status))),
      ])}
      words={
        <>
          <p className="absolute inset-x-0 bottom-0 flex justify-between text-11 leading-none text-text-3">
            <span>24h ago</span>
            <span>12h</span>
            <span>now</span>
          </p>
          {pointed === null ? null : <ReadOut text={readOut(pointed.index)} left={pointed.left} />}
        </>
      }
    >
      <span className="block" style={{ height: HEIGHT }}>
        <Suspense>
          <TimeBars
            starts={hours.map((hour) => hour.starts_at)}
            series={series}
            height={HEIGHT - AXIS}
            onPoint={setPointed}
          />
        </Suspense>
      </span>
    </ChartWithTable>
  )
}
