import { reconnect, useConnection } from '@/api/live'
import { timeOfStudio, useNowAnyway } from '@/lib/clock'
import { formatClock, formatDuration, formatMoment } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { BANNER_AFTER, connectionWords } from './connectionWords'

/** Whether the line is up. Pressed, it tries at once. */
export function ConnectionMark() {
  const connection = useConnection()
  const now = useNowAnyway(connection.state === 'offline' ? timeOfStudio(connection.since) : 0)
  const { tone, words } = connectionWords(connection, now)
  const isLive = connection.state === 'live'
  const title = isLive
    ? `Connected since ${formatClock(timeOfStudio(connection.at))}. Changes are shown as they happen.`
    : 'Try to connect now'
  return (
    <button
      type="button"
      title={title}
      onClick={reconnect}
      className={`t-${tone} inline-flex h-7 min-w-[60px] flex-none items-center gap-[7px] max-[599px]:flex-initial rounded-control px-2 text-12 whitespace-nowrap text-text-2 hover:bg-active`}
    >
      <span className="size-[7px] flex-none rounded-full bg-tone shadow-[0_0_0_3px_var(--c-soft)]" />
      <span role="status" className="cut" aria-label={`Connection: ${words}`}>
        {words}
      </span>
    </button>
  )
}

/** After a while without the server: what is shown is not what is. It lies above the page, so that nothing moves, and
 * beside what asks to be pressed there. */
export function AwayBanner() {
  const connection = useConnection()
  const since = connection.state === 'offline' ? timeOfStudio(connection.since) : null
  const now = useNowAnyway(since ?? 0)
  if (since === null || now - since < BANNER_AFTER) return null
  return (
    <div
      role="alert"
      className="t-warning fixed bottom-4 left-1/2 z-40 flex w-[560px] max-w-[calc(100vw-84px)] -translate-x-1/2 items-start wide:left-4 wide:w-[420px] wide:translate-x-0 gap-2.5 rounded-panel border border-tone-line bg-tone-soft py-3 pr-3 pl-3.5 text-tone-fg shadow-2"
    >
      <Icon name="warning" className="mt-0.5 text-tone" />
      <div className="min-w-0 flex-1">
        <p className="strong">
          Connection lost <span aria-live="off">{formatDuration(now - since)} ago</span>
        </p>
        <p>
          What you see is from {formatMoment(since, now)}. The studio reconnects by itself and fills the gap.
        </p>
      </div>
      <Button size="small" onClick={reconnect}>
        Try now
      </Button>
    </div>
  )
}
