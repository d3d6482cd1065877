import type { ReactNode } from 'react'
import { Popover } from '../Popover'

type Props = {
  /** What the picture shows, for those who cannot see it. */
  sentence: string
  height: number
  head: readonly string[]
  rows: readonly (readonly string[])[]
  children: ReactNode
  /** Words around the picture. They are no part of the button, whose name is the sentence. */
  words?: ReactNode
}

/** A small picture of numbers, and the numbers themselves for whoever asks: a click opens them as a table. */
export function ChartWithTable({ sentence, height, head, rows, children, words }: Props) {
  return (
    <div className="relative z-10" style={{ height }}>
      <Popover
        label={sentence}
        align="center"
        width={head.length > 2 ? 480 : 280}
        trigger={
          <button
            type="button"
            aria-label={`${sentence} Show as a table`}
            className="block size-full rounded-chip"
          >
            {children}
          </button>
        }
      >
        <p className="border-b border-line px-4 py-2.5 text-12 text-text-2">{sentence}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too */}
        <div role="region" tabIndex={0} aria-label="Numbers" className="max-h-72 overflow-auto">
          <table className="w-full text-12">
            <thead>
              <tr className="sticky top-0 bg-sunken text-text-3">
                {head.map((word, column) => (
                  <th
                    key={word}
                    scope="col"
                    className={`h-8 px-2 medium whitespace-nowrap first:pl-4 last:pr-4 ${column === 0 ? 'text-left' : 'text-right'}`}
                  >
                    {word}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row[0]} className="border-t border-line">
                  {row.map((value, column) =>
                    column === 0 ? (
                      <th
                        key={head[column]}
                        scope="row"
                        className="h-6 pl-4 text-left font-normal whitespace-nowrap text-text-2"
                      >
                        {value}
                      </th>
                    ) : (
                      <td
                        key={head[column]}
                        className={`h-6 px-2 text-right last:pr-4 ${value === '0' ? 'text-text-3' : 'medium'}`}
                      >
                        {value}
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Popover>
      {words === undefined ? null : (
        <div aria-hidden="true" className="pointer-events-none absolute inset-0">
          {words}
        </div>
      )}
    </div>
  )
}
