import { type FocusEvent, type ReactNode, useRef, useState } from 'react'
import { Popover } from '@/ui/Popover'
import { EvidenceCard } from './EvidenceCard'

const SETTLES_IN = 400 // ms in which the focus that comes back from a closed card does not open it again

type Props = {
  runId: string
  /** The chain that it explains. */
  children: ReactNode
  /** For those who open it by a key of their own. */
  open?: boolean
  onOpenChange?: (open: boolean) => void
}

/** The evidence behind a state, for who points at its chain, comes to it by keyboard, or presses it. */
export function EvidencePopover({ runId, children, open, onOpenChange }: Props) {
  const [isOwnOpen, setOwnOpen] = useState(false)
  const closedAt = useRef(Number.NEGATIVE_INFINITY)
  const isOpen = isOwnOpen || open === true
  const change = (next: boolean): void => {
    if (!next) closedAt.current = performance.now()
    setOwnOpen(next)
    onOpenChange?.(next)
  }
  const focused = (event: FocusEvent<HTMLElement>): void => {
    const isFresh = performance.now() - closedAt.current > SETTLES_IN
    if (isFresh && event.currentTarget.matches(':focus-visible')) change(true)
  }
  return (
    <Popover
      label="Evidence"
      onHover
      open={isOpen}
      onOpenChange={change}
      takesFocus={false}
      trigger={
        <button type="button" className="inline-flex max-w-full min-w-0 rounded-full" onFocus={focused}>
          {children}
        </button>
      }
    >
      <EvidenceCard runId={runId} onLeave={() => change(false)} />
    </Popover>
  )
}
