import { Component, type ReactNode } from 'react'
import type { Message } from '@/api/messages'
import { plainText } from '@/lib/plain'
import { wholeText } from './reading'

type Props = { message: Message; result: Message | undefined; position: number; children: ReactNode }
type State = { of: Message | null; with: Message | undefined; hasFailed: boolean }

const MOST = 2_000 // characters

/** One message that cannot be drawn is told as it is, and takes nothing else with it. */
export class RowBoundary extends Component<Props, State> {
  override state: State = { of: null, with: undefined, hasFailed: false }

  /** Another message, or the same one overwritten or answered, is tried again. */
  static getDerivedStateFromProps({ message, result }: Props, state: State): State | null {
    if (state.of === message && state.with === result) return null
    return { of: message, with: result, hasFailed: false }
  }

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    const { message, position, children } = this.props
    if (!this.state.hasFailed) return children
    return (
      <article data-position={position} className="grid gap-1 px-4 py-2 pl-[92px]">
        <p className="medium">Message {position} cannot be drawn.</p>
        <p className="text-text-2 whitespace-pre-wrap wrap-anywhere">{textOf(message)}</p>
      </article>
    )
  }
}

function textOf(message: Message): string {
  try {
    return plainText(wholeText(message).slice(0, MOST))
  } catch {
    return ''
  }
}
