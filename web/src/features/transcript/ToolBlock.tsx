import type { Message } from '@/api/messages'
import { useNow } from '@/lib/clock'
import { countOf } from '@/lib/numbers'
import { plainLine, plainText } from '@/lib/plain'
import { formatClock, formatDuration } from '@/lib/time'
import { IconButton } from '@/ui/Button'
import { CopyButton } from '@/ui/CopyButton'
import { Icon } from '@/ui/Icon'
import { useFold } from './folds'
import { JsonTree } from './JsonTree'
import { Output } from './Output'
import { type Call, type Diff, parseJson, type Result, readCall, readResult, wholeText } from './reading'
import { has } from './sought'

const DIFF_LINES = 40 // of each side
const FITS = 90 // characters of a command that the head shows

type Props = {
  call: Message
  result: Message | undefined
  /** Whether the result may still come. */
  isAwaited: boolean
}

/** A tool call and what came of it, as one block. */
export function ToolBlock({ call: message, result: answer, isAwaited }: Props) {
  const isAlone = message.kind === 'tool_result' // its call is not here
  const call = readCall(message)
  const told = isAlone ? message : answer
  const result = told === undefined ? null : readResult(told)
  const isError = result?.isError ?? false
  // Commands, failures and what is still awaited show themselves; the rest is read when somebody asks.
  const isOpenAtFirst = isError || told === undefined || call.command !== null
  const [isOpen, toggle] = useFold(
    message.id,
    isOpenAtFirst,
    (words) => !has(`${call.tool} ${call.gist}`, words) && has(wholeText(message, answer), words),
  )
  const took = told === undefined || isAlone ? null : told.created_at - message.created_at
  return (
    <div
      className={`overflow-hidden rounded-control border bg-surface ${isError ? 't-danger border-tone-line' : 'border-line'}`}
    >
      <div className="flex h-8 items-center gap-2 pr-1 pl-2">
        <Mark state={result === null ? (isAwaited ? 'awaited' : 'none') : isError ? 'error' : 'good'} />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={toggle}
          className="flex min-w-0 flex-1 items-center gap-2 self-stretch text-left"
        >
          <b className="mono strong">{plainLine(call.tool)}</b>
          <span className="mono cut text-text-2">{call.gist}</span>
        </button>
        <span className="opacity-0 group-hover/row:opacity-100 focus-within:opacity-100">
          <CopyButton text={() => wholeText(message, answer)} label="Copy call and result" />
        </span>
        <span className="text-12 whitespace-nowrap text-text-3">
          {factsOf(call, result, took).join(' · ')}
        </span>
        <IconButton title={isOpen ? 'Collapse' : 'Expand'} className="size-6" onClick={toggle} tabIndex={-1}>
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
        </IconButton>
      </div>
      {isOpen ? (
        <>
          <Asked call={call} />
          {result === null ? (
            <Waiting since={message.created_at} isAwaited={isAwaited} />
          ) : (
            <Answer id={message.id} result={result} />
          )}
        </>
      ) : null}
    </div>
  )
}

const MARKS = {
  good: { icon: 'check', tone: 't-success text-tone', word: 'Done' },
  error: { icon: 'close', tone: 't-danger bg-tone-soft text-tone', word: 'Failed' },
  awaited: { icon: 'running', tone: 't-info text-tone', word: 'Running' },
  none: { icon: 'idle', tone: 'text-text-3', word: 'No result' },
} as const

function Mark({ state }: { state: keyof typeof MARKS }) {
  const { icon, tone, word } = MARKS[state]
  return (
    <span title={word} className={`grid size-4 flex-none place-items-center rounded-full ${tone}`}>
      <Icon name={icon} size={12} />
      <span className="sr-only">{word}</span>
    </span>
  )
}

function factsOf(call: Call, result: Result | null, took: number | null): string[] {
  if (result === null) return []
  const facts: string[] = []
  if (call.diff !== null) facts.push(`+${countLines(call.diff.added)} −${countLines(call.diff.removed)}`)
  else if (result.exitCode !== null) facts.push(`exit ${result.exitCode}`)
  else if (result.text !== null && result.text !== '') facts.push(countOf(countLines(result.text), 'line'))
  if (took !== null && took >= 0) facts.push(took < 10 ? `${took.toFixed(1)}s` : formatDuration(took))
  return facts
}

const countLines = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length)

/** What was asked of the tool, where its head does not say it all. */
function Asked({ call }: { call: Call }) {
  if (call.diff !== null) return <DiffBlock diff={call.diff} />
  if (call.command !== null) {
    return call.command.length <= FITS && !call.command.includes('\n') ? null : (
      <pre className="code code-flat whitespace-pre-wrap wrap-anywhere">
        <span className="text-text-3">$ {plainText(call.command.slice(0, 4_000))}</span>
      </pre>
    )
  }
  const isTold = typeof call.args !== 'object' || call.args === null || Object.keys(call.args).length === 0
  return isTold ? null : (
    <div className="code-flat bg-sunken px-3 py-2">
      <JsonTree value={call.args} />
    </div>
  )
}

function DiffBlock({ diff }: { diff: Diff }) {
  return (
    <pre className="code code-flat code-diff">
      <Side text={diff.removed} mark="−" look="code-del" />
      <Side text={diff.added} mark="+" look="code-add" />
    </pre>
  )
}

function Side({ text, mark, look }: { text: string; mark: string; look: string }) {
  if (text === '') return null
  const lines = text.replace(/\n$/, '').split('\n')
  const left = lines.length - DIFF_LINES
  return (
    <>
      {lines.slice(0, DIFF_LINES).map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
        <span key={at} className={`code-line ${look}`}>
          {mark} {plainText(line.slice(0, 2_000))}
        </span>
      ))}
      {left > 0 ? <span className="code-line text-text-3">… {countOf(left, 'more line')}</span> : null}
    </>
  )
}

function Answer({ id, result }: { id: string; result: Result }) {
  const value = result.value ?? (result.text === null ? null : parseJson(result.text))
  if (value !== null) {
    return (
      <>
        {result.value !== null && result.text ? (
          <Output id={`${id} error`} text={result.text} isError={result.isError} />
        ) : null}
        <div className="code-flat max-h-[520px] overflow-y-auto bg-sunken px-3 py-2">
          <JsonTree value={value} />
        </div>
      </>
    )
  }
  if (result.text === null || result.text.trim() === '') {
    return <p className="code-flat bg-sunken px-3 py-2 text-12 text-text-3">No output.</p>
  }
  return <Output id={id} text={result.text} isError={result.isError} />
}

function Waiting({ since, isAwaited }: { since: number; isAwaited: boolean }) {
  const now = useNow(since)
  return (
    <p className="code-flat flex items-center gap-2 bg-sunken px-3 py-2 text-12 text-text-2">
      {isAwaited ? (
        <>
          <Icon name="running" size={14} className="t-info text-tone" />
          <span>
            No result yet. Running for <b className="medium">{formatDuration(now - since)}</b>, since{' '}
            {formatClock(since)}.
          </span>
        </>
      ) : (
        'No result. The agent went on, or ended, without it.'
      )}
    </p>
  )
}
