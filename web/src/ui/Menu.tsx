import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { Icon } from './Icon'

type Props = {
  trigger: ReactElement<Record<string, unknown>>
  children: ReactNode
  align?: 'start' | 'end'
}

/** A list of things to do or to switch, opened by its trigger. */
export function Menu({ trigger, children, align = 'end' }: Props) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align={align} className="z-40">
          <Base.Popup className="min-w-44 rounded-panel border border-line-strong bg-raised p-1.5 shadow-2 outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

const ITEM =
  'flex h-[30px] w-full items-center gap-2.5 rounded-[5px] px-2.5 outline-none data-highlighted:bg-active data-disabled:text-text-off'

type ItemProps = { onSelect: () => void; disabled?: boolean; children: ReactNode }

export function MenuItem({ onSelect, disabled = false, children }: ItemProps) {
  return (
    <Base.Item className={ITEM} onClick={onSelect} disabled={disabled}>
      {children}
    </Base.Item>
  )
}

type CheckProps = { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode }

/** A line that is on or off; the menu stays open, because one rarely switches just one. */
export function MenuCheck({ checked, onChange, children }: CheckProps) {
  return (
    <Base.CheckboxItem className={ITEM} checked={checked} onCheckedChange={onChange} closeOnClick={false}>
      <CheckMark checked={checked} />
      {children}
    </Base.CheckboxItem>
  )
}

export function CheckMark({ checked }: { checked: boolean | 'some' }) {
  return (
    <span
      aria-hidden="true"
      className={`grid size-4 flex-none place-items-center rounded-chip border ${checked === false ? 'border-line-control bg-surface' : 'border-accent bg-accent text-on-accent'}`}
    >
      {checked === true ? <Icon name="check" size={12} /> : null}
      {checked === 'some' ? <span className="h-[1.5px] w-2 bg-current" /> : null}
    </span>
  )
}

export function MenuLine() {
  return <Base.Separator className="my-1.5 h-px bg-line" />
}

export function MenuNote({ children }: { children: ReactNode }) {
  return <div className="px-2.5 py-1 text-12 text-text-3">{children}</div>
}
