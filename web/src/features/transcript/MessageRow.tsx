import { memo, useRef } from 'react'
import type { Message } from '@/api/messages'
import { formatTokens } from '@/lib/numbers'
import { plainLine, plainText } from '@/lib/plain'
import { formatClock, formatDuration } from '@/lib/time'
import { CopyButton } from '@/ui/CopyButton'
import { Icon, type IconName } from '@/ui/Icon'
import { Moment } from '@/ui/Moment'
import { useFold } from './folds'
import { JsonTree } from './JsonTree'
import { Output } from './Output'
import { isVerbatim, pretty, readSpeech, readThinking, readUse, wholeText } from './reading'
import { Said } from './Said'
import { has, type Sought, SoughtPlace, useInSight } from './sought'
import { ToolBlock } from './ToolBlock'

const FACES: Record<Message['kind'], { icon: IconName; look: string }> = {
  system: { icon: 'admin', look: 'bg-active text-text-3' },
  user: { icon: 'person', look: 't-review bg-tone-soft text-tone-fg' },
  assistant: { icon: 'model', look: 't-info bg-tone-soft text-tone-fg' },
  tool_call: { icon: 'tool', look: 'text-text-3' },
  tool_result: { icon: 'tool', look: 'text-text-3' },
  other: { icon: 'info', look: 'bg-active text-text-3' },
}

type Props = {
  message: Message
  /** The number it goes by: its own, or that of the call it answers. */
  position: number
  result: Message | undefined
  isAwaited: boolean
  speaker: string
  /** The branch it was said in, where several are shown. */
  branchName: string | null
  /** Seconds since what was said before it, where that is known. */
  pause: number | null
  isTinted: boolean
  /** What somebody looks for and went to this message for. */
  sought: Sought | null
  onLink: (position: number) => void
  onSeen: (offset: number) => void
}

/** One message, or a call with its result, under its number. */
export const MessageRow = memo(function MessageRow(props: Props) {
  const { message, position, isTinted, sought } = props
  const row = useRef<HTMLElement>(null)
  useInSight(row, sought, props.onSeen)
  const isTool = message.kind === 'tool_call' || message.kind === 'tool_result'
  const face = FACES[message.kind]
  return (
    <article
      ref={row}
      data-position={position}
      aria-label={`Message ${position}, ${props.speaker}, ${formatClock(message.created_at)}`}
      className={`group/row grid grid-cols-[44px_24px_minmax(0,1fr)] gap-x-3 overflow-clip pr-4 hover:bg-hover ${isTool ? 'py-1' : 'py-2'} ${isTinted ? 'bg-selected hover:bg-selected' : ''}`}
    >
      <Place position={position} isTool={isTool} onLink={props.onLink} />
      <span className={`grid size-6 place-items-center rounded-control ${face.look} ${isTool ? 'mt-1' : ''}`}>
        <Icon name={face.icon} size={14} />
      </span>
      <div className="min-w-0">
        <SoughtPlace value={sought}>
          {isTool ? (
            <>
              {props.branchName === null ? null : <BranchName name={props.branchName} />}
              <ToolBlock call={message} result={props.result} isAwaited={props.isAwaited} />
            </>
          ) : (
            <Speech {...props} />
          )}
        </SoughtPlace>
      </div>
    </article>
  )
})

function Place({ position, isTool, onLink }: { position: number; isTool: boolean; onLink: Props['onLink'] }) {
  return (
    <a
      href={`#m${position}`}
      title={`Copy link to #${position}`}
      aria-label={`Copy link to message ${position}`}
      className={`flex h-6 items-center justify-end gap-[3px] font-mono text-11 text-text-3 hover:text-text ${isTool ? 'mt-1' : ''}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        onLink(position)
      }}
    >
      <Icon name="link" size={12} className="opacity-0 group-hover/row:opacity-100" />
      {position}
    </a>
  )
}

function BranchName({ name }: { name: string }) {
  return <span className="mono cut block max-w-60 leading-5 text-text-3">{plainLine(name)}</span>
}

function Speech({ message, speaker, branchName, pause }: Props) {
  const { text, rest } = readSpeech(message)
  const [isRestOpen, toggleRest] = useFold(`${message.id} rest`, false, (words) => has(pretty(rest), words))
  const isSystem = message.kind === 'system'
  const [isOpen, toggle] = useFold(message.id, !isSystem, (words) => has(text ?? '', words))
  return (
    <>
      <header className="flex items-baseline gap-2 leading-6">
        <b className="cut max-w-72 strong">{speaker}</b>
        <span className="cut text-12 text-text-3">{usedWords(message)}</span>
        {branchName === null ? null : <BranchName name={branchName} />}
        <span className="ml-auto flex items-center gap-1">
          <span className="opacity-0 group-hover/row:opacity-100 focus-within:opacity-100">
            <CopyButton text={() => wholeText(message)} label="Copy message" />
          </span>
          <Moment at={message.created_at} className="text-12 text-text-3">
            {formatClock(message.created_at)}
          </Moment>
        </span>
      </header>
      <Thoughts message={message} pause={pause} />
      {isSystem ? <Fold words="System prompt" isOpen={isOpen} toggle={toggle} /> : null}
      {isOpen && text !== null ? <Words message={message} text={text} /> : null}
      {rest === null ? null : text === null ? (
        <JsonTree value={rest} />
      ) : (
        <>
          <Fold words="Given with it" isOpen={isRestOpen} toggle={toggleRest} />
          {isRestOpen ? <JsonTree value={rest} /> : null}
        </>
      )}
      {text === '' && rest === null && readThinking(message) === null ? (
        <p className="text-text-3">Nothing was said.</p>
      ) : null}
    </>
  )
}

function Words({ message, text }: { message: Message; text: string }) {
  return isVerbatim(message) ? (
    <div className="mb-1 overflow-hidden rounded-control border border-line">
      <Output id={message.id} text={text} isError={false} />
    </div>
  ) : (
    <Said id={message.id} text={text} />
  )
}

function usedWords(message: Message): string {
  const { model, read, wrote } = readUse(message)
  return [
    model === null ? null : plainLine(model).replace(/^.*\//, ''),
    read === null ? null : `${formatTokens(read)} in`,
    wrote === null ? null : `${formatTokens(wrote)} out`,
  ]
    .filter((part) => part !== null)
    .join(' · ')
}

function Thoughts({ message, pause }: { message: Message; pause: number | null }) {
  const thinking = readThinking(message)
  const [isOpen, toggle] = useFold(`${message.id} thoughts`, false, (words) =>
    has(thinking?.text ?? '', words),
  )
  if (thinking === null) return null
  const seconds = thinking.seconds ?? pause
  return (
    <>
      <Fold
        words={seconds === null ? 'Thought' : `Thought for ${formatDuration(seconds)}`}
        isOpen={isOpen}
        toggle={toggle}
      />
      {isOpen ? (
        <div className="mb-2 max-w-[76ch] border-l-2 border-line-strong pl-3 leading-[21px] whitespace-pre-wrap text-text-2 wrap-anywhere">
          {plainText(thinking.text)}
        </div>
      ) : null}
    </>
  )
}

function Fold({ words, isOpen, toggle }: { words: string; isOpen: boolean; toggle: () => void }) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={toggle}
      className="mb-0.5 flex h-6 items-center gap-1.5 text-12 text-text-3 hover:text-text"
    >
      <Icon name={isOpen ? 'down' : 'right'} size={12} />
      {words}
    </button>
  )
}
