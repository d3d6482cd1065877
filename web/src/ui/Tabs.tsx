import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Views of one page. Each has an address of its own, so these are links. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex gap-5 overflow-x-auto overflow-y-hidden border-b border-line">
      {children}
    </nav>
  )
}

export function Tab({ isOn, link, children }: { isOn: boolean; link: LinkProps; children: ReactNode }) {
  return (
    <Link
      {...link}
      activeProps={{ 'aria-current': undefined }}
      aria-current={isOn ? 'true' : undefined}
      className={`-mb-px flex h-9 items-center border-b-2 whitespace-nowrap ${isOn ? 'border-accent medium text-text' : 'border-transparent text-text-2 hover:text-text'}`}
    >
      {children}
    </Link>
  )
}
