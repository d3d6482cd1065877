import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { Button, type ButtonProps } from './Button'
import { Icon } from './Icon'

type Props = {
  open: boolean
  onClose: () => void
  /** The question, with the number in it. */
  title: string
  /** What will happen, in a sentence. */
  says?: ReactNode
  children: ReactNode
  /** Cancel, then the actions. */
  foot?: ReactNode
  width?: number
}

/** A question that has to be answered before going on. */
export function Dialog({ open, onClose, title, says, children, foot, width = 680 }: Props) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-(--scrim)" />
        <Base.Popup
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-48px)] max-w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-dialog border border-line-strong bg-raised shadow-3 outline-none"
          style={{ width }}
        >
          <header className="relative grid gap-1 px-6 pt-5">
            <Base.Title className="pr-8 text-15 strong">{title}</Base.Title>
            {says === undefined ? null : (
              <Base.Description className="text-text-2" render={<div />}>
                {says}
              </Base.Description>
            )}
            <Base.Close
              aria-label="Close"
              className="absolute top-4 right-4 inline-grid size-7 place-items-center rounded-control text-text-3 hover:bg-active hover:text-text"
            >
              <Icon name="close" />
            </Base.Close>
          </header>
          <div className="grid min-h-0 gap-4 overflow-auto px-6 pt-4 pb-5">{children}</div>
          {foot === undefined ? null : (
            <footer className="flex items-center justify-end gap-2 rounded-b-dialog border-t border-line bg-sunken px-6 py-3.5">
              {foot}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The foot of a question with one answer: Cancel, then the act. */
export function ActFoot({ onClose, ...act }: ButtonProps & { onClose: () => void }) {
  return (
    <>
      <Button size="large" onClick={onClose}>
        Cancel
      </Button>
      <Button size="large" look="primary" {...act} />
    </>
  )
}
