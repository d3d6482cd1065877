import { Popover as Base } from '@base-ui/react/popover'
import type { ReactElement, ReactNode } from 'react'

type Props = {
  /** What opens it: a button, or something that renders one. */
  trigger: ReactElement<Record<string, unknown>>
  /** Its name for those who cannot see it. */
  label: string
  children: ReactNode
  /** Also when the trigger is only pointed at. */
  onHover?: boolean
  align?: 'start' | 'center' | 'end'
  width?: number
  /** For those who open and close it themselves. */
  open?: boolean
  onOpenChange?: (open: boolean) => void
  /** Whether the focus goes into it when it opens. A card that only explains leaves it where it is. */
  takesFocus?: boolean
}

/** A small page above the page, with links and buttons of its own. Esc closes it and gives the focus back. */
export function Popover({
  trigger,
  label,
  children,
  onHover = false,
  align = 'start',
  width = 380,
  ...rest
}: Props) {
  const { open, onOpenChange, takesFocus = true } = rest
  return (
    <Base.Root {...(open === undefined ? {} : { open })} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger
        render={trigger}
        openOnHover={onHover}
        delay={250}
        nativeButton={trigger.type === 'button'}
      />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align={align} className="z-40">
          <Base.Popup
            aria-label={label}
            initialFocus={takesFocus}
            className="max-w-[calc(100vw-32px)] rounded-panel border border-line-strong bg-raised shadow-2 outline-none"
            style={{ width }}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
