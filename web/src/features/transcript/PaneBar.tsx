import { type KeyboardEvent, memo } from 'react'
import type { MessageShare } from '@/api/messages'
import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { IconButton } from '@/ui/Button'
import { SearchField } from '@/ui/Field'
import { Icon } from '@/ui/Icon'
import { Segmented } from '@/ui/Segmented'
import type { Finding } from './useFinding'

type Props = {
  title: string
  from: number
  to: number
  length: number
  finding: Finding
  /** The match one is at, counted from 1; 0 before the first. */
  match: number
  isFull: boolean
  onFull: () => void
  onMatch: (direction: 1 | -1) => void
  onLeave: () => void
}

const SHARES = [
  { word: 'all', text: 'All' },
  { word: 'text', text: 'Text' },
  { word: 'tools', text: 'Tools' },
  { word: 'errors', text: 'Errors' },
] as const satisfies readonly { word: MessageShare | 'all'; text: string }[]

/** What is read, where in it one is, what is shown of it, and a field to find something in it. */
export function PaneBar(props: Props) {
  const { title, from, to, length, finding, isFull, onFull } = props
  return (
    <div className="flex min-h-11 flex-none flex-wrap items-center gap-x-2 border-b border-line pr-2 pl-4">
      <b className="cut max-w-48 medium">{plainLine(title)}</b>
      <Where from={from} to={to} length={length} />
      <Shares finding={finding} />
      <span className="ml-auto flex items-center gap-1 py-2">
        <Find {...props} />
        <IconButton
          title={isFull ? 'Back to the page  F' : 'Focus mode  F'}
          aria-pressed={isFull}
          onClick={onFull}
        >
          <Icon name={isFull ? 'close' : 'expand'} size={14} />
        </IconButton>
      </span>
    </div>
  )
}

const FEWEST = 999 // messages whose numbers always have room

/** It has room for its longest words, so that nothing beside it moves while they change. */
function Where({ from, to, length }: { from: number; to: number; length: number }) {
  const letters = formatCount(Math.max(length, FEWEST)).length
  return (
    <span className="whitespace-nowrap text-text-3" style={{ minWidth: `${3 * letters + 7}ch` }}>
      {length === 0 ? 'no messages' : `#${formatCount(from)} – #${formatCount(to)} of ${formatCount(length)}`}
    </span>
  )
}

const Shares = memo(function Shares({ finding }: { finding: Finding }) {
  const failures = finding.errors.length > 0 ? ` ${formatCount(finding.errors.length)}` : ''
  return (
    <Segmented
      size="small"
      label="Show"
      words={SHARES.map(({ word, text }) => ({ word, text: word === 'errors' ? text + failures : text }))}
      value={finding.share ?? 'all'}
      onChange={(word) => finding.setShare(word === 'all' ? null : word)}
    />
  )
})

function Find({ finding, match, onMatch, onLeave }: Props) {
  const { words, matches, areAllMatches, found, isMoment } = finding
  const onKey = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Enter') onMatch(event.shiftKey ? -1 : 1)
    else if (event.key === 'Escape') {
      finding.setWords('')
      onLeave()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const total = `${formatCount(matches.length)}${areAllMatches ? '' : '+'}`
  return (
    <>
      <span role="status" className="min-w-16 text-right text-12 whitespace-nowrap text-text-3">
        {found === ''
          ? ''
          : matches.length === 0
            ? 'no match'
            : isMoment
              ? `at ${found}`
              : `${match === 0 ? '–' : formatCount(match)} of ${total}`}
      </span>
      {words === '' ? null : (
        <>
          <IconButton title="Match before  Shift Enter" className="size-6" onClick={() => onMatch(-1)}>
            <Icon name="up" size={12} />
          </IconButton>
          <IconButton title="Next match  Enter" className="size-6" onClick={() => onMatch(1)}>
            <Icon name="down" size={12} />
          </IconButton>
        </>
      )}
      <SearchField
        label="Find in transcript"
        placeholder="Find in transcript"
        className="w-[180px]"
        value={words}
        onChange={(event) => finding.setWords(event.target.value)}
        onKeyDown={onKey}
      />
    </>
  )
}
