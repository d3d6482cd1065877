import { useState } from 'react'
import type { Stats } from '@/api/dashboard'
import { countOf, formatCount } from '@/lib/numbers'
import { formatDuration } from '@/lib/time'
import { Bars, BarWords } from '@/ui/charts/Bars'
import { ChartWithTable } from '@/ui/charts/ChartWithTable'
import { type Pointed, ReadOut } from '@/ui/charts/ReadOut'
import { Card, Legend } from './Card'
import { toEnded, toOver60m } from './lists'

const HEIGHT = 78
const LIMIT = 3600 // seconds: slow
const NAMED = new Set([60, 600, LIMIT])

type Props = { numbers: Stats['latency_24h']; durations: Stats['durations'] }

/** How long the runs took that ended in the last 24 hours. */
export function LatencyCard({ numbers, durations }: Props) {
  const { p95_seconds: p95, median_seconds: median } = numbers
  return (
    <Card
      label="Latency 24h"
      link={toEnded}
      value={p95 === null ? '–' : formatDuration(p95)}
      noun="P95"
      foot={
        median === null ? (
          'Needs one finished run'
        ) : (
          <span>
            Median <b className="medium text-text-2">{formatDuration(median)}</b>
          </span>
        )
      }
    >
      <Distribution durations={durations} measured={numbers.measured} />
      <div className="mt-1">
        <Legend
          items={[{ label: 'took over 60m', count: numbers.over_60m, tone: 'warning', link: toOver60m }]}
          columns="minmax(0,1fr)"
        />
      </div>
    </Card>
  )
}

function Distribution({ durations, measured }: { durations: Stats['durations']; measured: number }) {
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const bars = durations.map((bar) => ({
    label: spanOf(bar),
    count: bar.runs,
    tone: bar.above >= LIMIT ? 'warning' : 'neutral',
  }))
  const bar = pointed === null ? undefined : bars[pointed.index]
  const edges = durations.flatMap(({ up_to: limit }, index) =>
    limit !== null && NAMED.has(limit)
      ? [{ after: index + 1, label: formatDurationOf(limit), isLimit: limit === LIMIT }]
      : [],
  )
  return (
    <ChartWithTable
      sentence={`How long the runs of the last 24 hours took: ${countOf(measured, 'run')} measured.`}
      height={HEIGHT}
      head={['Took', 'Runs']}
      rows={bars.map((bar) => [bar.label, formatCount(bar.count)])}
      words={
        <>
          <BarWords bars={bars} edges={edges} />
          {bar === undefined || pointed === null ? null : (
            <ReadOut text={`${bar.label}: ${countOf(bar.count, 'run')}`} left={pointed.left} />
          )}
        </>
      }
    >
      <Bars bars={bars} edges={edges} height={HEIGHT} onPoint={setPointed} />
    </ChartWithTable>
  )
}

function spanOf({ above, up_to: limit }: Stats['durations'][number]): string {
  return limit === null
    ? `over ${formatDurationOf(above)}`
    : `${formatDurationOf(above)} to ${formatDurationOf(limit)}`
}

// The limit is spoken of as 60m, not as an hour.
const formatDurationOf = (seconds: number) => (seconds === LIMIT ? '60m' : formatDuration(seconds))
