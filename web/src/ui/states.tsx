// What a view shows when it has nothing to show: still loading, nothing there, or something in the way.

import { type ReactNode, useEffect, useState } from 'react'
import { Button } from './Button'
import { useCopy } from './CopyButton'
import { Icon } from './Icon'

const PATIENCE = 150 // ms in which nothing is drawn, so that quick answers do not flicker

export function Skeleton({ rows = 6, height = 44 }: { rows?: number; height?: number }) {
  const [isDue, setDue] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), PATIENCE)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" aria-label="Loading" style={{ minHeight: rows * height }}>
      {isDue
        ? Array.from({ length: rows }, (_, row) => `row ${row}`).map((row) => (
            <div
              key={row}
              className="flex items-center gap-4 border-b border-line px-4 last:border-0"
              style={{ height }}
            >
              <span className="h-2.5 w-1/3 rounded-[3px] bg-active" />
              <span className="h-2.5 w-1/5 rounded-[3px] bg-active" />
              <span className="ml-auto h-2.5 w-12 rounded-[3px] bg-active" />
            </div>
          ))
        : null}
    </div>
  )
}

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="grid gap-2 px-4 py-6">
      <p className="medium">{title}</p>
      {children === undefined ? null : <div className="grid gap-2 text-text-2">{children}</div>}
    </div>
  )
}

/** A command to type, which can be copied. */
export function Command({ children }: { children: string }) {
  const [copied, copy] = useCopy()
  return (
    <div className="flex h-9 max-w-xl min-w-0 items-center gap-2.5 rounded-control border border-line bg-sunken pr-1 pl-3 font-mono text-12">
      <span className="text-text-3 select-none">$</span>
      <code className="cut flex-1">{children}</code>
      <Button look="ghost" size="small" onClick={() => copy(children)}>
        <Icon name={copied ? 'check' : 'copy'} size={12} />
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}

type Trouble = { message: string; hint?: string | null; code?: string | null; retry?: () => void }

/** What failed, the likely cause, the code, and a way on. */
export function ErrorState({ message, hint, code, retry }: Trouble) {
  return (
    <div role="alert" className="t-danger flex items-start gap-2.5 px-4 py-5">
      <Icon name="warning" className="mt-0.5 text-tone" />
      <div className="grid gap-1">
        <p className="medium">{message}</p>
        {hint ? <p className="text-text-2">{hint}</p> : null}
        {code ? <p className="mono text-text-3">{code}</p> : null}
        {retry === undefined ? null : (
          <div>
            <Button size="small" onClick={retry}>
              Try again
            </Button>
          </div>
        )}
      </div>
    </div>
  )
}
