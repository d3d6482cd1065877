import type { ReactNode } from 'react'
import { formatCount } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'

type Props = { refused: number; asked: number; act: string; children?: ReactNode }

/** What leaves out what is refused, and goes on with the rest. */
export const leaveOutWords = (refused: number): string =>
  refused === 1 ? 'Leave the refused run out' : `Leave the ${formatCount(refused)} refused runs out`

/** That nothing would happen yet, and why not, before anybody presses anything. */
export function RefusalNote({ refused, asked, act, children }: Props) {
  const all = refused === asked
  return (
    <div
      role="alert"
      className="t-danger flex items-start gap-2.5 rounded-panel border border-tone-line bg-tone-soft px-3 py-2.5 text-tone-fg"
    >
      <Icon name="warning" className="mt-0.5 text-tone" />
      <div className="grid min-w-0 flex-1 gap-0.5">
        <p className="strong">
          {formatCount(refused)} of {formatCount(asked)} would be refused, so nothing will change yet
        </p>
        <p>
          {act} is all or nothing.{' '}
          {all
            ? 'Look at what is said of each below.'
            : 'Leave out what is refused, or cancel and look at it first.'}
        </p>
        {children}
      </div>
    </div>
  )
}
