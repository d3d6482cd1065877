import { Link } from '@tanstack/react-router'
import { type MouseEvent, memo, type ReactNode } from 'react'
import type { PlayInShow, ShowInFull } from '@/api/shows'
import { useNarrow } from '@/lib/narrow'
import { shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { IconButton } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { PlayState } from '@/vocabulary/PlayState'
import { PlayUpdated } from '@/vocabulary/PlayUpdated'
import { PlayDetails } from './PlayDetails'
import { Took } from './Took'

type Props = {
  show: ShowInFull
  play: PlayInShow
  failed: ReadonlySet<string>
  isCritical: boolean
  isLit: boolean
  isOpen: boolean
  onPoint: (name: string | null) => void
  onToggle: (name: string) => void
  onJudge: (play: PlayInShow) => void
}

export const rowId = (name: string): string => `play-${encodeURIComponent(name)}`

/** One play: a row, and below it, when it is open, everything about it. */
export const PlayRow = memo(function PlayRow(props: Props) {
  const { show, play, failed, isCritical, isLit, isOpen, onPoint, onToggle, onJudge } = props
  const name = plainLine(play.name)
  const detailsId = `${rowId(play.name)}-details`
  const toggle = (event: MouseEvent) => {
    const isControl = event.target instanceof Element && event.target.closest('a, button') !== null
    const isSelecting = getSelection()?.isCollapsed === false
    if (!isControl && !isSelecting) onToggle(play.name)
  }
  const tint = isLit || isOpen ? 'bg-hover' : ''
  return (
    <>
      <tr
        id={rowId(play.name)}
        data-play={play.name}
        data-lit={isLit || undefined}
        className={`h-11 cursor-pointer scroll-mt-16 border-line hover:bg-hover max-[639px]:grid max-[639px]:h-auto max-[639px]:grid-cols-[minmax(0,1fr)_auto] max-[639px]:items-center max-[639px]:gap-y-1 max-[639px]:py-2 ${isOpen ? '' : 'border-b last:border-b-0'} ${tint} [&>td]:px-3`}
        onClick={toggle}
        onMouseEnter={() => onPoint(play.name)}
        onMouseLeave={() => onPoint(null)}
        onFocus={() => onPoint(play.name)}
        onBlur={() => onPoint(null)}
      >
        <td className="relative">
          {isCritical ? (
            <span
              title="On the critical path"
              data-critical
              className="absolute inset-y-2 left-0 w-[3px] rounded-r-[2px] bg-text"
            />
          ) : null}
          <span className="flex items-center gap-2">
            <IconButton
              data-stop
              title={isOpen ? `Close ${name}` : `Open ${name}`}
              aria-expanded={isOpen}
              aria-controls={isOpen ? detailsId : undefined}
              onClick={() => onToggle(play.name)}
            >
              <Icon name={isOpen ? 'down' : 'right'} size={12} />
            </IconButton>
            <span className="grid min-w-0">
              <span className="cut leading-[18px] medium" title={name}>
                {name}
              </span>
              <span className="cut text-12 text-text-3">
                {[play.playbook, play.effort]
                  .filter((part) => part !== null)
                  .map(plainLine)
                  .join(' · ')}
              </span>
            </span>
          </span>
        </td>
        <td className="max-[639px]:order-1 max-[639px]:pl-12!">
          <PlayState play={play} />
        </td>
        <td className="hidden text-text-2 wide:table-cell">
          <Waits play={play} failed={failed} unknown={show.graph.unknown} />
        </td>
        <td className="hidden text-right text-text-2 wide:table-cell">
          {play.meta.started_at === null ? '–' : play.meta.attempt}
        </td>
        <td className="text-right whitespace-nowrap text-text-2 max-[639px]:order-1 max-[639px]:pr-4!">
          <Took play={play} />
        </td>
        <td className="hidden wide:table-cell">
          {play.session_id === null ? (
            <span className="text-text-3">–</span>
          ) : (
            <Link to="/runs/$runId" params={{ runId: play.session_id }} className="mono hover:underline">
              {shortId(play.session_id)}
            </Link>
          )}
        </td>
        <td className="pr-4! text-right whitespace-nowrap text-text-3">
          <PlayUpdated play={play} />
        </td>
      </tr>
      {isOpen ? (
        <tr id={detailsId} className="border-b border-line bg-hover last:border-b-0 max-[639px]:block">
          <DetailsCell>
            <PlayDetails show={show} play={play} onJudge={onJudge} />
          </DetailsCell>
        </tr>
      ) : null}
    </>
  )
})

const COLUMNS = { wide: 7, narrow: 4 } // more than there are would make new ones

function DetailsCell({ children }: { children: ReactNode }) {
  const columns = useNarrow() ? COLUMNS.narrow : COLUMNS.wide
  return (
    <td colSpan={columns} className="p-0 max-[639px]:block">
      {children}
    </td>
  )
}

const SHOWN = 2

function Waits({
  play,
  failed,
  unknown,
}: {
  play: PlayInShow
  failed: ReadonlySet<string>
  unknown: ShowInFull['graph']['unknown']
}) {
  if (play.depends_on.length === 0) return <span className="text-text-3">–</span>
  const lost = new Set(unknown.filter((edge) => edge.play === play.name).map((edge) => edge.depends_on))
  // What holds it back comes first, so that it is never behind the "+2".
  const names = [...play.depends_on].sort(
    (one, other) => Number(failed.has(other) || lost.has(other)) - Number(failed.has(one) || lost.has(one)),
  )
  const more = names.length - SHOWN
  return (
    <span className="cut block" title={names.map(plainLine).join(', ')}>
      {names.slice(0, SHOWN).map((name, index) => (
        <span key={name}>
          {index === 0 ? '' : ', '}
          <span className={failed.has(name) || lost.has(name) ? 't-danger text-tone-fg' : ''}>
            {plainLine(name)}
            {lost.has(name) ? ' (no such play)' : ''}
          </span>
        </span>
      ))}
      {more > 0 ? ` +${more}` : ''}
    </span>
  )
}
