import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatCount } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'

type Props = {
  label: string
  /** The list that explains the card as a whole. */
  link: LinkProps
  /** How many rows that list has, when the card is about a count. */
  count?: number
  /** The large number, as it is written. */
  value: string
  /** What the number counts. */
  noun?: string
  size?: 'large' | 'small' | 'empty'
  foot?: ReactNode
  children?: ReactNode
}

// A card is a link as a whole, and holds links of its own; a link cannot hold links, so it lies behind them.
const COVER =
  'outline-none after:absolute after:inset-0 after:rounded-panel focus-visible:shadow-none focus-visible:after:shadow-(--ring)'

// Of every card the height is known before its numbers are, so that nothing moves when they come.
const HEIGHTS = {
  large: 'h-[218px] pt-3.5 pb-3',
  small: 'h-16 justify-center',
  empty: 'h-[106px] pt-3.5 pb-3',
}

/** A number, one picture of it, and one line below. */
export function Card({ label, link, count, value, noun, size = 'large', foot, children }: Props) {
  const isLarge = size !== 'small'
  return (
    <section
      aria-label={label}
      className={`group relative flex min-w-0 flex-col rounded-panel border border-line bg-surface px-4 transition-colors duration-90 hover:border-line-control ${HEIGHTS[size]}`}
    >
      <h2 className="flex items-center text-12 medium text-text-2">
        {label}
        <Icon name="right" size={12} className="ml-auto text-text-off group-hover:text-text-3" />
      </h2>
      <p className={`flex items-baseline gap-[7px] ${isLarge ? 'mt-1.5' : 'mt-0.5'}`}>
        <Link
          {...link}
          data-number={count}
          aria-label={`${label}: ${value}${noun === undefined ? '' : ` ${noun}`}`}
          className={`strong tracking-[-0.025em] [font-variant-numeric:proportional-nums] ${isLarge ? 'text-28' : 'text-20 leading-6'} ${COVER}`}
        >
          {value}
        </Link>
        {noun === undefined ? null : (
          <span aria-hidden="true" className="cut text-13 text-text-2">
            {noun}
          </span>
        )}
      </p>
      {children === undefined ? null : <div className="mt-1.5">{children}</div>}
      {foot === undefined ? null : (
        <p className="mt-auto flex justify-between gap-2 text-12 whitespace-nowrap text-text-3">{foot}</p>
      )}
    </section>
  )
}

type NumberProps = { count: number; link: LinkProps; children: ReactNode; className?: string; title?: string }

/** A number within a card or a sentence; it leads to the list that has so many rows. */
export function NumberLink({ count, link, children, className = '', title }: NumberProps) {
  return (
    <Link
      {...link}
      data-number={count}
      title={title}
      className={`relative z-10 inline-flex h-6 max-w-full items-center gap-[5px] whitespace-nowrap hover:underline ${className}`}
    >
      {children}
    </Link>
  )
}

export type LegendItem = {
  label: string
  count: number
  tone: string
  link: LinkProps
  title?: string
  isWide?: boolean
}

/** What the colours of a picture mean, and how many there are of each. All are always there, so nothing moves. */
export function Legend({ items, columns }: { items: readonly LegendItem[]; columns: string }) {
  return (
    <ul className="grid text-12" style={{ gridTemplateColumns: columns }}>
      {items.map(({ label, count, tone, link, title, isWide }) => (
        <li key={label} className={`min-w-0 ${isWide ? 'col-span-full' : ''}`}>
          <NumberLink
            count={count}
            link={link}
            {...(title === undefined ? {} : { title })}
            className={`t-${tone} ${count === 0 ? 'text-text-3' : 'text-text-2'}`}
          >
            <span
              aria-hidden="true"
              className={`size-2 flex-none rounded-[2px] ${count === 0 ? 'bg-active' : 'bg-tone'}`}
            />
            <span className="cut">{label}</span>
            <b className={count === 0 ? 'font-normal' : 'medium text-text'}>{formatCount(count)}</b>
          </NumberLink>
        </li>
      ))}
    </ul>
  )
}
