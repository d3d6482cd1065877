import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatCount } from '@/lib/numbers'

/** Views of one page. Each has an address of its own, so these are links. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex gap-5 overflow-x-auto overflow-y-hidden border-b border-line">
      {children}
    </nav>
  )
}

type Props = {
  isOn: boolean
  link: LinkProps
  /** How many rows its list has; its place is kept before that is known. */
  count: number | string | undefined
  /** Somebody should look at them. */
  tone?: string | undefined
  children: ReactNode
}

export function Tab({ isOn, link, count, tone, children }: Props) {
  return (
    <Link
      {...link}
      activeOptions={{ exact: true, includeSearch: true }} // or the router calls narrower lists this one
      aria-current={isOn ? 'page' : undefined}
      className={`-mb-px flex h-9 items-center border-b-2 whitespace-nowrap ${isOn ? 'border-accent medium text-text' : 'border-transparent text-text-2 hover:text-text'}`}
    >
      {children}
      <span
        className={`ml-1.5 min-w-[2ch] text-12 font-normal ${tone === undefined ? 'text-text-3' : `t-${tone} text-tone-fg`}`}
      >
        {typeof count === 'number' ? formatCount(count) : count}
      </span>
    </Link>
  )
}
