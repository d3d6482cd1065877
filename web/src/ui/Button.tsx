import type { ButtonHTMLAttributes, ReactNode } from 'react'

export type ButtonLook = 'plain' | 'primary' | 'ghost' | 'danger'

const LOOKS: Record<ButtonLook, string> = {
  plain: 'border-line-strong bg-surface text-text shadow-1 hover:border-line-control hover:bg-hover',
  primary: 'border-accent bg-accent text-on-accent hover:border-accent-hover hover:bg-accent-hover',
  ghost: 'border-transparent text-text-2 hover:bg-active hover:text-text',
  danger: 't-danger border-tone-line bg-tone-soft text-tone-fg hover:border-tone',
}
const SIZES = {
  small: 'h-6 gap-[5px] px-2 text-12',
  normal: 'h-7 gap-1.5 px-2.5',
  large: 'h-8 gap-1.5 px-3.5',
}

export type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: ButtonLook
  size?: keyof typeof SIZES
  children: ReactNode
}

export function buttonClass(look: ButtonLook = 'plain', size: keyof typeof SIZES = 'normal'): string {
  return `inline-flex items-center justify-center rounded-control border medium whitespace-nowrap transition-colors duration-90 disabled:cursor-not-allowed disabled:border-line disabled:bg-transparent disabled:text-text-off disabled:shadow-none ${LOOKS[look]} ${SIZES[size]}`
}

export function Button({ look = 'plain', size = 'normal', className = '', ...rest }: ButtonProps) {
  return <button type="button" className={`${buttonClass(look, size)} ${className}`} {...rest} />
}

/** A button that is only an icon; its title is its name. */
export function IconButton({ title, className = '', ...rest }: ButtonProps & { title: string }) {
  return (
    <button
      type="button"
      title={title}
      aria-label={title}
      className={`inline-grid size-7 flex-none place-items-center rounded-control text-text-3 hover:bg-active hover:text-text disabled:text-text-off ${className}`}
      {...rest}
    />
  )
}
