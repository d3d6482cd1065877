import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { History, MessageShare } from '@/api/messages'
import type { Branch, RunInFull } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { useKeys } from '@/lib/keys'
import { countOf, formatCount } from '@/lib/numbers'
import { formatDuration } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { EmptyState, Skeleton } from '@/ui/states'
import { toasts } from '@/ui/toasts'
import { nameOf } from '@/vocabulary/branches'
import { messageAddress } from '@/vocabulary/MessageLink'
import { Trouble } from '@/vocabulary/Trouble'
import { useDrawing } from './drawing'
import { errorsElsewhere } from './errorsElsewhere'
import { Folds } from './folds'
import { UNREAD } from './heights'
import { PaneBar } from './PaneBar'
import { Row } from './Row'
import { nextOf, useFinding } from './useFinding'
import { useFoundMarks } from './useFoundMarks'
import { useLog } from './useLog'

type Props = {
  run: RunInFull
  /** The branch that is read; null for everything in order. */
  branch: Branch | null
  history: History
  /** The message that the address names. */
  target: { position: number } | null
  isFull: boolean
  onFull: () => void
  onLink: (position: number) => void
}

const NOTHING: Record<MessageShare, string> = {
  text: 'No text was said here.',
  tools: 'No tool was called here.',
  errors: 'No tool failed here.',
}
const SCROLL_KEYS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', ' '])

/** A transcript with a scroll of its own. */
export function Pane({ run, branch, history, target, isFull, onFull, onLink }: Props) {
  const pane = useRef<HTMLDivElement>(null)
  const [folds] = useState(() => new Map<string, boolean>())
  const finding = useFinding(run, branch?.id ?? null, history)
  const { isHidden, settle } = usePairs(history, finding.share === 'errors')
  const log = useLog(history, finding.positions, isHidden, settle, pane)
  const { hold, follow } = log
  const held = log.held === null ? null : settle(log.held)
  const isMatch = log.held !== null && !finding.isMoment && finding.matches.includes(log.held)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one for each message that is gone to
  const sought = useMemo(
    () => (isMatch ? { words: finding.found } : null),
    [isMatch, log.held, finding.found],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the address names another one
  useEffect(() => {
    if (target !== null) hold(target.position)
  }, [target, history])

  const range = log.virtualizer.range
  const from = range === null ? 0 : log.positionAt(range.startIndex)
  const go = (positions: readonly number[], direction: 1 | -1): void => {
    const next = nextOf(positions, log.held ?? (direction === 1 ? from - 1 : from), direction)
    if (next === undefined) return
    pane.current?.scrollIntoView({ block: 'nearest' })
    hold(next)
  }
  const navigate = useNavigate()
  const goToError = (direction: 1 | -1): void => {
    if (finding.errors.length > 0) go(finding.errors, direction)
    else if (finding.areErrorsKnown) {
      const place = run.first_tool_error?.place
      const show = (): void => void (place && navigate(messageAddress(run.id, place)))
      const says = errorsElsewhere(run, branch)
      toasts.done(says, undefined, place ? { action: { label: 'Go to the first', onClick: show } } : {})
    }
  }
  const toEnd = (): void => {
    pane.current?.scrollIntoView({ block: 'nearest' })
    follow()
  }
  // What is found is gone to at once, without a key.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other words are found
  useEffect(() => {
    if (finding.found !== '') go(finding.matches, 1)
  }, [finding.found])
  useFoundMarks(pane, finding.found)
  useKeys(
    {
      f: { does: isFull ? 'Back to the page' : 'Give it the whole window', act: onFull },
      n: { does: 'Next error', act: () => goToError(1) },
      p: { does: 'Previous error', act: () => goToError(-1) },
      End: { does: 'To the end, and follow', act: toEnd },
    },
    'Transcript',
  )
  const items = log.virtualizer.getVirtualItems()
  const inSight = [range?.startIndex ?? 0, range?.endIndex ?? 0] as const
  const read = items.filter(({ index }) => history.at(log.positionAt(index)) !== undefined)
  const drawn = useDrawing(read, inSight, log.sizeOf, log.isRushing)
  return (
    <div className="relative flex min-h-0 min-w-0 flex-col">
      <PaneBar
        title={branch === null ? 'All in order' : nameOf(branch)}
        from={from}
        to={range === null ? 0 : log.positionAt(range.endIndex)}
        length={history.length}
        finding={finding}
        match={log.held === null ? 0 : finding.matches.indexOf(log.held) + 1}
        isFull={isFull}
        onFull={onFull}
        onMatch={(direction) => go(finding.matches, direction)}
        onLeave={() => pane.current?.focus()}
      />
      {finding.error === null ? null : <Trouble error={finding.error} />}
      {finding.areAllPositions ? null : (
        <p className="border-b border-line px-4 py-2 text-12 text-text-2">
          Only the first {formatCount(finding.positions?.length ?? 0)} are shown.
        </p>
      )}
      {history.trouble === null ? null : <Trouble error={history.trouble} retry={() => history.refresh()} />}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <div
          ref={pane}
          role="log"
          aria-label="Transcript"
          aria-live={log.isFollowing ? 'polite' : 'off'}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
          tabIndex={0}
          className="peer min-h-0 flex-1 overflow-y-auto overscroll-contain [overflow-anchor:none] focus-visible:shadow-none"
          onScroll={log.onScroll}
          onWheel={log.release}
          onTouchMove={log.release}
          onPointerDown={log.release}
          onKeyDown={(event) => {
            if (SCROLL_KEYS.has(event.key)) log.release()
            if (event.key !== 'Home' || event.shiftKey) return
            event.preventDefault() // a scroll that takes its time does not get there while the end moves
            log.goToBeginning()
          }}
        >
          {history.length === 0 ? (
            <Nothing run={run} />
          ) : finding.isLooking ? (
            <Skeleton rows={8} height={UNREAD} />
          ) : finding.positions?.length === 0 && finding.error === null ? (
            <EmptyState title={NOTHING[finding.share ?? 'text']} />
          ) : null}
          <Folds value={folds}>
            <div className="relative w-full" style={{ height: log.virtualizer.getTotalSize() }}>
              {items.map((item) => (
                <div
                  key={item.key}
                  ref={log.virtualizer.measureElement}
                  data-index={item.index}
                  className="absolute top-0 left-0 w-full [contain:layout_style]"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <Row
                    run={run}
                    branch={branch}
                    history={history}
                    position={log.positionAt(item.index)}
                    above={item.index === 0 ? null : settle(log.positionAt(item.index - 1))}
                    isHidden={isHidden(log.positionAt(item.index))}
                    height={drawn.has(item.index) ? null : item.size}
                    held={held}
                    sought={sought}
                    onLink={onLink}
                    onSeen={log.holdAt}
                  />
                </div>
              ))}
            </div>
          </Folds>
        </div>
        {/* Over the rows, whose tints would hide a ring below them. */}
        <span
          data-ring
          className="pointer-events-none absolute inset-0 peer-focus-visible:shadow-[inset_0_0_0_2px_var(--focus)]"
        />
      </div>
      {log.newCount > 0 || !log.isFollowing ? (
        <div className="pointer-events-none absolute inset-x-0 bottom-4 grid place-items-center">
          <button
            type="button"
            onClick={follow}
            title="To the end  End"
            className="pointer-events-auto inline-flex h-[30px] items-center gap-1.5 rounded-full bg-accent pr-3.5 pl-[11px] medium text-on-accent shadow-2"
          >
            <Icon name="down" size={12} />
            {log.newCount > 0 ? `${log.newCount} new` : 'To the end'}
          </button>
        </div>
      ) : null}
    </div>
  )
}

/** A result is shown with its call. Where only failures are shown, it stands for both. */
function usePairs(history: History, isApart: boolean) {
  const callOf = useCallback(
    (position: number): number | undefined => {
      const message = isApart ? undefined : history.at(position)
      return message?.kind === 'tool_result' ? history.callOf(message) : undefined
    },
    [history, isApart],
  )
  const isHidden = useCallback((position: number) => callOf(position) !== undefined, [callOf])
  const settle = useCallback((position: number) => callOf(position) ?? position, [callOf])
  return { isHidden, settle }
}

function Nothing({ run }: { run: RunInFull }) {
  const now = useNow(run.started_at)
  return run.status === 'running' ? (
    <EmptyState
      title={`No message yet.${run.started_at === null ? '' : ` The run started ${formatDuration(now - run.started_at)} ago.`}`}
    />
  ) : (
    <EmptyState title="No message was recorded.">
      {run.messages_lost > 0 ? <p>{countOf(run.messages_lost, 'message')} could not be stored.</p> : null}
    </EmptyState>
  )
}
