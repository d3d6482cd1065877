// How tall a message will be, about, before it is drawn. The better the guess, the less the scroll bar moves.

import type { Message } from '@/api/messages'

export const UNREAD = 72
const HEAD = 40
const LINE = 21
const LINE_OF_OUTPUT = 18
const LETTERS = 92 // in a line
const MOST_LINES = 120

export function estimateHeight(message: Message | undefined): number {
  if (message === undefined) return UNREAD
  if (message.kind === 'tool_call' || message.kind === 'tool_result') return HEAD + 4 * LINE_OF_OUTPUT
  if (message.kind === 'system') return HEAD + LINE
  const content = message.content
  const text =
    typeof content === 'string'
      ? content
      : Object.values(content ?? {}).find((value) => typeof value === 'string')
  if (typeof text !== 'string') return UNREAD
  const part = text.slice(0, MOST_LINES * LETTERS)
  let lines = 0
  for (const line of part.split('\n')) lines += Math.max(1, Math.ceil(line.length / LETTERS))
  return HEAD + Math.min(lines, MOST_LINES) * LINE
}
