import { Link, type LinkProps } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { useHeld } from '@/lib/held'
import { countOf, formatCount } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'

type Props<Row> = {
  title: string
  /** How many there are in all, and the list that has them. */
  count?: number
  link: LinkProps
  rows: readonly Row[]
  slots: number
  rowHeight: number
  /** Nothing stands below it that could move. */
  isLast?: boolean
  /** Instead of rows: still loading, nothing there, or something in the way. */
  instead?: ReactNode
  head?: ReactNode
  draw: (row: Row) => ReactNode
  className?: string
}

/** The first rows of a list that lives. It has room for all its rows from the start, so that nothing below it moves. */
export function LivePanel<Row extends { id: string }>({
  title,
  count,
  link,
  rows,
  slots,
  rowHeight,
  isLast = false,
  instead,
  head,
  draw,
  className = '',
}: Props<Row>) {
  const room = isLast ? {} : { minHeight: slots * rowHeight }
  const { shown, waiting, refresh, handlers } = useHeld(rows.slice(0, slots))
  return (
    <Panel
      title={title}
      {...(count === undefined ? {} : { count: <Total title={title} count={count} link={link} /> })}
      more={
        <>
          {waiting === 0 ? null : (
            <button
              type="button"
              onClick={refresh}
              className="h-6 rounded-control px-1.5 medium text-text hover:bg-active"
            >
              {formatCount(waiting)} new
            </button>
          )}
          <Link {...link} className="inline-flex h-6 items-center gap-1 px-1 hover:text-text">
            View all
            <span className="sr-only">: {title}</span>
            <Icon name="right" size={12} />
          </Link>
        </>
      }
      className={`overflow-hidden ${className}`}
      {...handlers} // its head as well: who reaches for what is new must not lose it on the way
    >
      {head}
      {instead === undefined ? (
        <ul aria-label={title} style={room} className="@container">
          {shown.map(({ row, isGone }, slot) => (
            <li
              key={`slot ${slot.toString()}`}
              className={`grid items-center border-b border-line last:border-0 hover:bg-hover ${isGone ? 'text-text-3 saturate-0' : ''}`}
              style={{ height: rowHeight }}
            >
              <Fragment key={row.id}>{draw(row)}</Fragment>
            </li>
          ))}
        </ul>
      ) : (
        <div style={room}>{instead}</div>
      )}
    </Panel>
  )
}

function Total({ title, count, link }: { title: string; count: number; link: LinkProps }) {
  return (
    <Link {...link} data-number={count} aria-label={`${title}: ${countOf(count, 'row')}`}>
      {formatCount(count)}
    </Link>
  )
}
