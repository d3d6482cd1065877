// Who says a message, in one word.

import type { Message } from '@/api/messages'
import type { RunInFull } from '@/api/runs'
import { plainLine } from '@/lib/plain'

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i
const WORDS: Record<Message['kind'], string> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool_call: 'Tool',
  tool_result: 'Tool',
  other: 'Message',
}

type Branch = RunInFull['branches'][number]

/** The name of a sender, else of the agent that the branch belongs to, else what the message is. */
export function speakerOf(message: Message, run: RunInFull, branch: Branch | undefined): string {
  const { sender, kind } = message
  if (sender !== null && sender !== '' && sender.toLowerCase() !== kind && !UUID.test(sender)) {
    return plainLine(sender)
  }
  if (kind === 'assistant') {
    const isFirst = branch === undefined || branch.id === run.branches[0]?.id
    const name = isFirst ? run.provenance.agent : (branch.name ?? run.provenance.agent)
    if (name !== null && name !== '') return plainLine(name)
  }
  return kind === 'other' ? plainLine(message.role) || WORDS.other : WORDS[kind]
}
