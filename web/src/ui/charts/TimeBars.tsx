import { useEffect, useMemo, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '@/lib/theme'
import type { Pointed } from './ReadOut'
import { stack } from './stack'

export type TimeSeries = { label: string; tone: string; values: readonly number[] }

type Point = (pointed: Pointed | null) => void

type Props = {
  /** When each bar begins, in unix seconds, evenly spaced. */
  starts: readonly number[]
  /** From the ground up. */
  series: readonly TimeSeries[]
  height: number
  onPoint: Point
}

/** Counts over time as bars, one series upon the other. Loaded when it is needed, because it brings a library. */
export default function TimeBars({ starts, series, height, onPoint }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [theme] = useTheme()
  const tones = series.map((one) => one.tone).join(' ')
  // A page is drawn anew for many reasons; the plot only when its numbers are others.
  const words = JSON.stringify(stack(starts, series))
  const data = useMemo(() => JSON.parse(words) as ReturnType<typeof stack>, [words])
  const latest = useRef(data)
  latest.current = data

  // Colours are read from the page when the plot is made, so another theme makes another one.
  useEffect(() => {
    const home = place.current
    if (home === null) return
    const made = new uPlot(optionsOf(home, tones.split(' '), height, theme, onPoint), latest.current, home)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: home.clientWidth, height }))
    observer.observe(home)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [tones, height, theme, onPoint])
  useEffect(() => plot.current?.setData(data), [data])

  return <div ref={place} aria-hidden="true" style={{ height }} />
}

function optionsOf(home: HTMLElement, tones: string[], height: number, theme: string, point: Point) {
  const style = getComputedStyle(home)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const bars = uPlot.paths.bars?.({ size: [0.84, 40], align: 1, radius: 0.1 })
  const options: uPlot.Options = {
    width: home.clientWidth,
    height,
    class: `time-bars-${theme}`,
    padding: [2, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (_, first, last) => [first, last + 3600] },
      y: { range: (_, __, most) => [0, Math.max(1, most)] },
    },
    axes: [{ show: false }, { show: false }],
    // The highest first, so that the lower ones are drawn over it.
    series: [
      {},
      ...tones
        .map((tone) => ({
          fill: colour(tone),
          width: 0,
          points: { show: false },
          ...(bars ? { paths: bars } : {}),
        }))
        .reverse(),
    ],
    hooks: {
      setCursor: [
        (self) => {
          const left = self.cursor.left ?? -1
          const [first = 0, second = first + 1] = self.data[0]
          const index = Math.floor((self.posToVal(left, 'x') - first) / (second - first))
          const isBar = left >= 0 && index >= 0 && index < self.data[0].length
          point(isBar ? { index, left: left / self.width } : null)
        },
      ],
      draw: [
        (self) => {
          const { ctx, bbox } = self
          ctx.save()
          ctx.fillStyle = colour('line-strong')
          ctx.fillRect(bbox.left, bbox.top + bbox.height - 1, bbox.width, 1)
          ctx.restore()
        },
      ],
    },
  }
  return options
}
