import type { ComponentProps, ReactNode } from 'react'

type Props = Omit<ComponentProps<'section'>, 'title'> & {
  title?: ReactNode
  count?: ReactNode
  /** What stands beside the title: a legend, a switch. */
  beside?: ReactNode
  more?: ReactNode
  children: ReactNode
}

/** A box with a line around it, and a head that says what it holds. */
export function Panel({ title, count, beside, more, children, className = '', ...rest }: Props) {
  return (
    <section {...rest} className={`min-w-0 rounded-panel border border-line bg-surface ${className}`}>
      {title === undefined ? null : (
        <div className="flex min-h-11 items-center gap-x-2 border-b border-line pr-3 pl-4 max-[639px]:flex-wrap max-[639px]:py-1.5">
          <h2 className="strong">{title}</h2>
          {count === undefined ? null : <Count>{count}</Count>}
          {beside}
          {more === undefined ? null : (
            <div className="ml-auto flex min-w-0 items-center gap-1 text-12 text-text-3">{more}</div>
          )}
        </div>
      )}
      {children}
    </section>
  )
}

export function Count({ children }: { children: ReactNode }) {
  return (
    <span className="inline-flex h-[18px] items-center rounded-chip bg-active px-1.5 text-11 medium text-text-2">
      {children}
    </span>
  )
}
