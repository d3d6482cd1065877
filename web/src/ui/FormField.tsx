import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from 'react'
import { Icon } from './Icon'

const BOX =
  'w-full rounded-control border border-line-control bg-surface px-2.5 text-text outline-none placeholder:text-text-3'

/** A field with its name above it, as dialogs have them. */
export function FormField({
  label,
  aside,
  children,
}: {
  label: string
  aside?: string
  children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label className="grid gap-1.5">
      <span className="text-12 text-text-3">
        <span className="medium text-text-2">{label}</span>
        {aside === undefined ? null : ` ${aside}`}
      </span>
      {children}
    </label>
  )
}

export function FormSelect({ children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <span className="relative grid">
      <select className={`${BOX} h-8 cut appearance-none pr-8`} {...rest}>
        {children}
      </select>
      <Icon name="down" size={14} className="pointer-events-none absolute top-[9px] right-2.5 text-text-3" />
    </span>
  )
}

export function FormText(props: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea rows={2} className={`${BOX} min-h-14 resize-y py-1.5`} {...props} />
}

export function FormNumber(props: InputHTMLAttributes<HTMLInputElement>) {
  return <input type="number" className={`${BOX} h-8`} {...props} />
}
