import { countOf, formatCount } from '@/lib/numbers'
import { Button } from './Button'
import { Icon } from './Icon'

type List = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
type Props = {
  list: List
  count: number
  noun: string
  /** Rows that are new, and rows that no longer belong here. */
  waiting: number
  left?: number
  onRefresh: () => void
}

/** The foot of a list: how much is shown, what waits to be let in, and more of it. Its place is always there. */
export function ListFoot({ list, count, noun, waiting, left = 0, onRefresh }: Props) {
  return (
    <div className="flex min-h-11 items-center gap-2 border-t border-line px-4 text-12 text-text-3">
      {list.hasNextPage ? `${countOf(count, noun)} shown` : countOf(count, noun)}
      <span className="ml-auto flex gap-2">
        {waiting + left > 0 ? (
          <Button look="primary" size="small" className="rounded-full" onClick={onRefresh}>
            <Icon name="up" size={12} />
            {waiting > 0 ? `${formatCount(waiting)} new` : `${formatCount(left)} left`}
          </Button>
        ) : null}
        {list.hasNextPage ? (
          <Button size="small" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load more
          </Button>
        ) : null}
      </span>
    </div>
  )
}
