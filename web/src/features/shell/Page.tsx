import { Link, type LinkProps } from '@tanstack/react-router'
import { createContext, type ReactNode, use, useEffect } from 'react'
import { createPortal } from 'react-dom'
import { Icon } from '@/ui/Icon'

/** Where in the top bar the way to this page is written. */
export const CrumbPlace = createContext<HTMLElement | null>(null)

type Crumb = { label: string; link: LinkProps }
type Props = { title: string; trail?: readonly Crumb[]; children: ReactNode }

/** One page: names itself in the window and in the top bar. */
export function Page({ title, trail = [], children }: Props) {
  const place = use(CrumbPlace)
  useEffect(() => {
    document.title = `${title} – Lion Studio`
  }, [title])
  return (
    <>
      {place === null ? null : createPortal(<Crumbs title={title} trail={trail} />, place)}
      {children}
    </>
  )
}

function Crumbs({ title, trail }: { title: string; trail: readonly Crumb[] }) {
  return (
    <>
      {trail.map((crumb) => (
        <span key={crumb.label} className="flex items-center gap-1.5">
          <Link {...crumb.link} className="hover:text-text">
            {crumb.label}
          </Link>
          <Icon name="right" size={12} className="text-text-off" />
        </span>
      ))}
      <span aria-current="page" className="cut medium text-text">
        {title}
      </span>
    </>
  )
}
