import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'

/** A short word about a thing that is pointed at or has the focus. Nothing may be readable here alone. */
export function Tip({
  text,
  children,
}: {
  text: ReactNode
  children: ReactElement<Record<string, unknown>>
}) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} delay={250} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="z-50">
          <Tooltip.Popup className="inline-block max-w-[300px] rounded-control bg-accent px-2.5 py-1.5 text-12 text-on-accent shadow-2">
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
