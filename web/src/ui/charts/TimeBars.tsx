import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '@/lib/theme'
import { stack } from './stack'

export type TimeSeries = { label: string; tone: string; values: readonly number[] }

type Props = {
  /** When each bar begins, in unix seconds, evenly spaced. */
  starts: readonly number[]
  /** From the ground up. */
  series: readonly TimeSeries[]
  height: number
  /** What is said about the bar that is pointed at. */
  readOut: (index: number) => string
}

/** Counts over time as bars, one series upon the other. Loaded when it is needed, because it brings a library. */
export default function TimeBars({ starts, series, height, readOut }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [theme] = useTheme()
  const [pointed, setPointed] = useState<{ index: number; left: number } | null>(null)
  const tones = series.map((one) => one.tone).join(' ')
  const data = stack(starts, series)
  const latest = useRef(data)
  latest.current = data

  // Colours are read from the page when the plot is made, so another theme makes another one.
  useEffect(() => {
    const home = place.current
    if (home === null) return
    const made = new uPlot(optionsOf(home, tones.split(' '), height, theme, setPointed), latest.current, home)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: home.clientWidth, height }))
    observer.observe(home)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [tones, height, theme])
  useEffect(() => plot.current?.setData(data), [data])

  return (
    <span className="relative block">
      <div ref={place} aria-hidden="true" style={{ height }} />
      {pointed === null ? null : (
        <span
          className="pointer-events-none absolute bottom-full z-20 mb-1 rounded-control bg-accent px-2 py-1 text-11 whitespace-nowrap text-on-accent shadow-2"
          style={pointed.left > 0.5 ? { right: 0 } : { left: 0 }}
        >
          {readOut(pointed.index)}
        </span>
      )}
    </span>
  )
}

type Point = (pointed: { index: number; left: number } | null) => void

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
          const index = self.cursor.idx
          const left = self.cursor.left ?? -1
          point(index === null || index === undefined || left < 0 ? null : { index, left: left / self.width })
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
