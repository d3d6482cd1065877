import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes } from 'react'
import { Icon, type IconName } from './Icon'

type SearchProps = InputHTMLAttributes<HTMLInputElement> & { icon?: IconName; label: string }

export function SearchField({ icon = 'search', label, className = '', ...rest }: SearchProps) {
  return (
    <label
      className={`flex h-7 items-center gap-2 rounded-control border border-line-strong bg-surface px-2.5 focus-within:border-focus ${className}`}
    >
      <Icon name={icon} size={14} className="text-text-3" />
      <span className="sr-only">{label}</span>
      <input
        type="search"
        className="min-w-0 flex-1 bg-transparent outline-none placeholder:text-text-3 focus-visible:shadow-none"
        {...rest}
      />
    </label>
  )
}

type SelectProps = SelectHTMLAttributes<HTMLSelectElement> & { label: string; children: ReactNode }

/** A filter of one word. Unset, it only shows what it filters by. */
export function SelectField({ label, children, className = '', value, ...rest }: SelectProps) {
  const isSet = value !== undefined && value !== ''
  return (
    <label
      className={`relative inline-flex h-6 items-center rounded-control border bg-surface text-12 ${isSet ? 'border-line-control' : 'border-dashed border-line-strong'} ${className}`}
    >
      <span className="pl-2 text-text-3">{label}</span>
      <select
        value={value}
        className="h-full appearance-none rounded-control bg-transparent pr-6 pl-1.5 medium text-text outline-none"
        {...rest}
      >
        {children}
      </select>
      <Icon name="down" size={12} className="pointer-events-none absolute right-1.5 text-text-3" />
    </label>
  )
}
