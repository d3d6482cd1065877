// Markdown of agents: no HTML of theirs, no picture from elsewhere, no link that runs or stays in this window.

import {
  type ComponentProps,
  isValidElement,
  memo,
  type ReactElement,
  type ReactNode,
  useEffect,
  useMemo,
  useState,
} from 'react'
import render, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { partsOf } from '@/lib/markdownParts'
import { plainText } from '@/lib/plain'
import { CodeBlock } from './CodeBlock'
import { isTimeLeft, spend, takeTurn } from './turns'

const REMEMBERED = 800 // pieces that are drawn again without being read again
const LONGEST_IN_FULL = 4_000 // characters of plain text; more of it has a scroll of its own
const PLUGINS = [remarkGfm]
const OPENABLE = /^(https?|mailto):/i

const COMPONENTS: Components = {
  a: ({ href, children }) => <Address href={href}>{children}</Address>,
  img: ({ src, alt }) => (
    <Address href={typeof src === 'string' ? src : undefined}>Image: {alt || src || 'no address'}</Address>
  ),
  pre: ({ children }) => <Code>{children}</Code>,
  code: ({ children }) => <code className="inline-code">{children}</code>,
  input: ({ checked }) => <span className="mr-1.5">{checked ? '☑' : '☐'}</span>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable without a mouse
    <div tabIndex={0} className="my-2 overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
  // The outline of the page is the page's: a heading of an agent is only larger.
  h1: ({ children }) => <p className="md-title text-15">{children}</p>,
  h2: ({ children }) => <p className="md-title text-15">{children}</p>,
  h3: Title,
  h4: Title,
  h5: Title,
  h6: Title,
}

function Title({ children }: ComponentProps<'h3'>) {
  return <p className="md-title">{children}</p>
}

/** A link that leaves the studio, or the address as text where it would not. */
function Address({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (href === undefined || !OPENABLE.test(href)) {
    return (
      <>
        {children}
        {href ? <span className="text-text-3"> ({href})</span> : null}
      </>
    )
  }
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

function Code({ children }: { children: ReactNode }) {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return <pre>{children}</pre>
  const language = /language-([\w+-]+)/.exec(children.props.className ?? '')?.[1] ?? ''
  const code = String(children.props.children ?? '').replace(/\n$/, '')
  return <CodeBlock code={code} language={language.toLowerCase()} />
}

const drawn = new Map<string, ReactElement>()

/** A piece as elements. It is a plain function of its text, so the last few are remembered. */
function draw(piece: string): ReactElement {
  const before = drawn.get(piece)
  if (before !== undefined) return before
  const element = read(piece)
  if (drawn.size >= REMEMBERED) drawn.delete(drawn.keys().next().value ?? '')
  drawn.set(piece, element)
  return element
}

function read(piece: string): ReactElement {
  try {
    return render({ children: piece, remarkPlugins: PLUGINS, components: COMPONENTS })
  } catch {
    return <Plain text={piece} /> // whatever an agent wrote, the page around it stays
  }
}

type PieceProps = { text: string; isFirst: boolean }

/** One that cannot be read in this frame any more is shown as it is until its turn comes; never the beginning. */
function Piece({ text, isFirst }: PieceProps) {
  const [own, setOwn] = useState<{ text: string; element: ReactElement } | null>(null)
  const before = own?.text === text ? own.element : drawn.get(text)
  const element = before ?? (isFirst || isTimeLeft() ? spend(() => draw(text)) : null)
  const isWaiting = element === null
  useEffect(() => {
    if (isWaiting) return takeTurn(() => setOwn({ text, element: draw(text) }))
  }, [isWaiting, text])
  return element ?? <div className="whitespace-pre-line">{text}</div>
}

/** What is no markdown, or none that can be read. */
function Plain({ text }: { text: string }) {
  if (text.length <= LONGEST_IN_FULL) return <div className="whitespace-pre-wrap">{text}</div>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
    <div tabIndex={0} className="max-h-[480px] overflow-y-auto whitespace-pre-wrap">
      {text}
    </div>
  )
}

export default memo(function Markdown({ text }: { text: string }) {
  const parts = useMemo(() => partsOf(plainText(text)), [text])
  return (
    <div className="md">
      {parts.map((part, at) =>
        part.isPlain ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
          <Plain key={at} text={part.text} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
          <Piece key={at} text={part.text} isFirst={at === 0} />
        ),
      )}
    </div>
  )
})
