import { memo, useMemo } from 'react'
import { readAnsi, stripAnsi } from '@/lib/ansi'
import { countOf, formatBytes } from '@/lib/numbers'
import { plainText } from '@/lib/plain'
import { CopyButton } from '@/ui/CopyButton'
import { useFold } from './folds'
import { has } from './sought'

const FOLDED_LINES = 8
const FOLDED_CHARACTERS = 1_600 // of text without line breaks
const LONGEST = 100_000 // characters before one asks for all of it
const LONGEST_LINE = 400 // of a folded line: it ends with the pane anyway

type Props = { id: string; text: string; isError: boolean }

/** What a tool printed. Much of it folds to eight lines: the first ones, or the last ones of an error. */
export function Output({ id, text, isError }: Props) {
  const { trimmed, count, folded } = useMemo(() => foldText(text, isError), [text, isError])
  const isShort = count <= FOLDED_LINES && trimmed.length <= FOLDED_CHARACTERS
  const left = count - FOLDED_LINES
  const isHuge = trimmed.length > LONGEST
  const most = isHuge ? (isError ? trimmed.slice(-LONGEST) : trimmed.slice(0, LONGEST)) : trimmed
  const [isOpen, toggle] = useFold(
    `${id} output`,
    false,
    (words) => !isShort && !has(folded, words) && has(trimmed, words),
  )
  const [isWhole, showWhole] = useFold(
    `${id} whole output`,
    false,
    (words) => !has(most, words) && has(trimmed, words),
  )
  const part = isWhole ? trimmed : most
  const words =
    left > 0 ? `Show ${countOf(left, isError ? 'earlier line' : 'more line')}` : 'Show whole lines'
  const unfold = isShort ? null : (
    <Unfold
      words={isOpen ? 'Show less' : words}
      size={formatBytes(text.length)}
      isOpen={isOpen}
      onClick={toggle}
    />
  )
  return (
    <div className="group/output relative">
      {isError ? unfold : null}
      <pre
        className={`code code-flat ${isShort || isOpen ? 'whitespace-pre-wrap wrap-anywhere' : 'code-folded'} ${isOpen ? 'max-h-[520px] overflow-y-auto' : ''}`}
        tabIndex={isOpen ? 0 : undefined}
      >
        <Coloured text={isShort || isOpen ? part : folded} />
      </pre>
      {isOpen && isHuge && !isWhole ? (
        <Unfold words={`Show all ${formatBytes(text.length)}`} size="" isOpen={false} onClick={showWhole} />
      ) : null}
      {isError ? null : unfold}
      <span className="absolute top-1 right-1 rounded-control bg-sunken opacity-0 group-hover/output:opacity-100 focus-within:opacity-100">
        <CopyButton text={() => stripAnsi(text)} label="Copy output" />
      </span>
    </div>
  )
}

/** How many lines there are, and those that are shown at first. */
function foldText(text: string, isError: boolean): { trimmed: string; count: number; folded: string } {
  const trimmed = text.trimEnd()
  const lines = trimmed.split('\n')
  const shown = isError ? lines.slice(-FOLDED_LINES) : lines.slice(0, FOLDED_LINES)
  const folded = shown.map((line) => (line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line))
  return { trimmed, count: lines.length, folded: folded.join('\n') }
}

type UnfoldProps = { words: string; size: string; isOpen: boolean; onClick: () => void }

function Unfold({ words, size, isOpen, onClick }: UnfoldProps) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onClick}
      className="flex h-7 w-full items-center justify-between border-t border-line bg-sunken px-3 text-12 medium text-text-2 hover:text-text"
    >
      {words}
      <span className="pr-7 font-normal text-text-3">{size}</span>
    </button>
  )
}

const TINTS = {
  danger: 't-danger text-tone-fg',
  success: 't-success text-tone-fg',
  warning: 't-warning text-tone-fg',
  info: 't-info text-tone-fg',
  review: 't-review text-tone-fg',
  dim: 'text-text-3',
} as const

const Coloured = memo(function Coloured({ text }: { text: string }) {
  return readAnsi(text).map((run, at) =>
    run.tint === null && !run.isStrong ? (
      plainText(run.text)
    ) : (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place in the text
        key={at}
        className={`${run.tint === null ? '' : TINTS[run.tint]} ${run.isStrong ? 'strong' : ''}`}
      >
        {plainText(run.text)}
      </span>
    ),
  )
})
