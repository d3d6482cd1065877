import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment, useRef } from 'react'
import { type MessageFilter, type TeamInFull, teamMessagesQuery } from '@/api/teams'
import { timeOfStudio } from '@/lib/clock'
import { byDay } from '@/lib/days'
import { useNewest } from '@/lib/newest'
import { formatCount } from '@/lib/numbers'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Command, EmptyState, Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { Message } from './Message'
import { MessageFilters } from './MessageFilters'
import { sendCommand } from './sendCommand'

type Props = { team: TeamInFull; filter: MessageFilter; onFilter: (filter: MessageFilter) => void }

/** What was written, newest first. What comes meanwhile waits above, so that nothing moves under the reader. */
export function Messages({ team, filter, onFilter }: Props) {
  const list = useInfiniteQuery(teamMessagesQuery(team.id, filter))
  const messages = list.data?.pages.flatMap((page) => page.items) ?? []
  const { shown, waiting, refresh } = useNewest(messages, (message) => message.id)
  const top = useRef<HTMLDivElement>(null)
  const letIn = () => {
    refresh()
    top.current?.scrollIntoView({ block: 'nearest' })
  }
  const isFiltered = filter.from !== undefined || filter.to !== undefined
  return (
    <div ref={top} className="min-w-0 scroll-mt-16">
      <Panel
        title="Messages"
        count={isFiltered ? undefined : formatCount(team.message_count)}
        more={
          <span className="flex min-w-[72px] justify-end">
            {waiting > 0 ? (
              <Button look="primary" size="small" className="rounded-full" onClick={letIn}>
                <Icon name="up" size={12} />
                {formatCount(waiting)} new
              </Button>
            ) : null}
          </span>
        }
      >
        <MessageFilters team={team} filter={filter} onFilter={onFilter} />
        {list.isPending ? <Skeleton rows={6} height={64} /> : null}
        {list.error && list.data === undefined ? (
          <Trouble error={list.error} retry={() => void list.refetch()} />
        ) : null}
        {list.data && shown.length === 0 ? <NoMessages team={team} isFiltered={isFiltered} /> : null}
        {byDay(shown, timeOfStudio()).map(({ day, rows }) => (
          <Fragment key={day}>
            <h3 className="border-b border-line bg-sunken px-4 py-2 text-12 text-text-3">{day}</h3>
            {rows.map((message) => (
              <Message key={message.id} message={message} members={team.members} />
            ))}
          </Fragment>
        ))}
        {list.hasNextPage ? (
          <div className="flex min-h-11 items-center border-t border-line px-4 text-12 text-text-3">
            {formatCount(messages.length)} shown
            <Button
              size="small"
              className="ml-auto"
              disabled={list.isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              Load more
            </Button>
          </div>
        ) : null}
      </Panel>
    </div>
  )
}

function NoMessages({ team, isFiltered }: { team: TeamInFull; isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No message matches this filter." />
  return (
    <EmptyState title="Nobody has written yet.">
      <Command>{sendCommand(team.name)}</Command>
    </EmptyState>
  )
}
