import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { IconButton } from '@/ui/Button'
import { Icon } from '@/ui/Icon'

type Props = {
  title: string
  from: number
  to: number
  length: number
  isFull: boolean
  onFull: () => void
}

/** What is read, where in it one is, and the window it has. */
export function PaneBar({ title, from, to, length, isFull, onFull }: Props) {
  return (
    <div className="flex h-11 flex-none items-center gap-2 border-b border-line pr-2 pl-4">
      <b className="cut max-w-60 medium">{plainLine(title)}</b>
      <span className="whitespace-nowrap text-text-3">
        {length === 0
          ? 'no messages'
          : `#${formatCount(from)} – #${formatCount(to)} of ${formatCount(length)}`}
      </span>
      <span className="ml-auto" />
      <IconButton
        title={isFull ? 'Back to the page  F' : 'Focus mode  F'}
        aria-pressed={isFull}
        onClick={onFull}
      >
        <Icon name={isFull ? 'close' : 'expand'} size={14} />
      </IconButton>
    </div>
  )
}
