// The messages of a history that were read, by their positions.

import type { Message } from './runs'

/** A message, and the number of the question that it answered. */
type Known = { message: Message; asked: number }

export class KeptMessages {
  /** The last position at which somebody told the agent something. */
  lastTurn = 0
  readonly #known = new Map<number, Known>()
  readonly #positions = new Map<string, number>()
  readonly #results = new Map<string, number>() // by the call that they answer

  get size(): number {
    return this.#known.size
  }

  at(position: number): Message | undefined {
    return this.#known.get(position)?.message
  }

  positionOf(id: string): number | undefined {
    return this.#positions.get(id)
  }

  resultOf(call: Message): Message | undefined {
    const position = this.#results.get(call.id)
    return position === undefined ? undefined : this.at(position)
  }

  callOf(result: Message): number | undefined {
    const id = callId(result)
    if (id === null || this.#results.get(id) !== result.position) return undefined
    return this.#positions.get(id)
  }

  /** Keep what answered a question, unless a later question was answered already. */
  put(message: Message, asked: number): void {
    const { position } = message
    if (position === null || (this.#known.get(position)?.asked ?? 0) > asked) return
    this.#known.set(position, { message, asked })
    this.#positions.set(message.id, position)
    const call = callId(message)
    if (call !== null) this.#results.set(call, position)
    if (message.kind === 'user') this.lastTurn = Math.max(this.lastTurn, position)
  }

  /** Forget the farthest until no more than these are left. What is at no distance stays in any case. */
  forget(left: number, distance: (position: number) => number): void {
    const far = [...this.#known.keys()].filter((position) => distance(position) > 0)
    far.sort((one, other) => distance(one) - distance(other))
    const near = this.#known.size - far.length
    for (const position of far.slice(Math.max(0, left - near))) {
      const message = this.at(position)
      this.#known.delete(position)
      if (message === undefined) continue
      this.#positions.delete(message.id)
      const call = callId(message)
      if (call !== null) this.#results.delete(call)
    }
  }
}

/** The id of the tool call that a message answers; null for everything else. */
function callId(message: Message): string | null {
  const content = message.content
  if (message.kind !== 'tool_result' || typeof content !== 'object' || content === null) return null
  const id = 'action_request_id' in content ? content.action_request_id : null
  return typeof id === 'string' ? id : null
}
