import { Checkbox as Base } from '@base-ui/react/checkbox'
import type { MouseEvent } from 'react'
import { CheckMark } from './Menu'

type Props = {
  label: string
  checked: boolean | 'some'
  onChange: (checked: boolean, event: MouseEvent | null) => void
  disabled?: boolean
}

/** A box to tick, 16 px with a target of 24. `some` is neither on nor off. */
export function Checkbox({ label, checked, onChange, disabled = false }: Props) {
  return (
    <Base.Root
      aria-label={label}
      checked={checked === true}
      indeterminate={checked === 'some'}
      disabled={disabled}
      onCheckedChange={(next, details) =>
        onChange(next, details.event instanceof globalThis.MouseEvent ? (details.event as never) : null)
      }
      className={`inline-grid size-6 flex-none place-items-center rounded-chip ${disabled ? 'opacity-40' : ''}`}
    >
      <CheckMark checked={checked} />
    </Base.Root>
  )
}
