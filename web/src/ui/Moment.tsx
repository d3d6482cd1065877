import { dateOf, formatWhole } from '@/lib/time'

type Props = { at: number; className?: string; children: string }

/** A moment in the words of its place; the whole of it for who points at it, and for machines. */
export function Moment({ at, className, children }: Props) {
  return (
    <time dateTime={dateOf(at).toISOString()} title={formatWhole(at)} className={className}>
      {children}
    </time>
  )
}
