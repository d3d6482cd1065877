// What a message says, taken out of the shapes in which runtimes write it.

import type { Message } from '@/api/messages'
import { stripAnsi } from '@/lib/ansi'
import { plainLine } from '@/lib/plain'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textAt = (fields: Fields | null, ...names: string[]): string | null => {
  for (const name of names) {
    const value = fields?.[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

const numberAt = (fields: Fields | null, ...names: string[]): number | null => {
  for (const name of names) {
    const value = fields?.[name]
    if (typeof value === 'number' && Number.isFinite(value)) return value
  }
  return null
}

const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isFields(value) && Object.keys(value).length === 0)

// Where each kind keeps what was said, in lionagi's shapes.
const SPOKEN: Partial<Record<Message['kind'], string>> = {
  system: 'system_message',
  user: 'instruction',
  assistant: 'assistant_response',
}

export type Speech = {
  /** What was said, or null if it is not text. */
  text: string | null
  /** Whatever was given with it, or all of it if it is not text. */
  rest: unknown
}

/** What somebody said, and what was given with it. */
export function readSpeech(message: Message): Speech {
  const content = message.content
  if (typeof content === 'string') return { text: content, rest: null }
  const blocks = readBlocks(content)
  if (blocks !== null) return { text: blocks, rest: null }
  const key = SPOKEN[message.kind]
  if (isFields(content) && key !== undefined && key in content) {
    const { [key]: said, ...others } = content
    const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => !isNothing(value)))
    const text = typeof said === 'string' ? said : readBlocks(said)
    if (text !== null) return { text, rest: isNothing(rest) ? null : rest }
  }
  return { text: null, rest: content }
}

/** A list of blocks that are all text, as providers write it. */
function readBlocks(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const texts = value.map((block) =>
    isFields(block) && block.type === 'text' ? textAt(block, 'text') : null,
  )
  return texts.every((text) => text !== null) ? texts.join('\n\n') : null
}

/** Whether it is a command or what one printed: shown letter by letter, for nobody wrote it as prose. */
export const isVerbatim = ({ node_metadata }: Message): boolean =>
  textAt(node_metadata, 'stream') !== null || Array.isArray(node_metadata?.argv)

/** What the model thought before it spoke. */
export function readThinking(message: Message): { text: string; seconds: number | null } | null {
  const metadata = message.node_metadata
  const text = textAt(metadata, 'thinking', 'reasoning', 'reasoning_content')
  if (text === null) return null
  const milliseconds = numberAt(metadata, 'thinking_ms', 'reasoning_ms')
  const seconds = numberAt(metadata, 'thinking_seconds', 'reasoning_seconds')
  return { text, seconds: seconds ?? (milliseconds === null ? null : milliseconds / 1000) }
}

export type Use = { model: string | null; read: number | null; wrote: number | null }

/** Which model answered, and what it read and wrote. */
export function readUse(message: Message): Use {
  const usage = message.node_metadata?.usage
  const used = isFields(usage) ? usage : null
  const parts = ['input_tokens', 'cache_read_tokens', 'cache_write_tokens'].map((name) =>
    numberAt(used, name),
  )
  const known = parts.filter((part) => part !== null)
  return {
    model: textAt(message.node_metadata, 'model'),
    read: known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0),
    wrote: numberAt(used, 'output_tokens'),
  }
}

export type Diff = { removed: string; added: string }
export type Call = {
  tool: string
  args: unknown
  /** The argument that tells most, on one line. */
  gist: string
  /** The command of a tool that runs commands. */
  command: string | null
  diff: Diff | null
}

const TELLING = [
  'command',
  'cmd',
  'file_path',
  'path',
  'filename',
  'notebook_path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'text',
]
const GIST = 400 // characters

/** A tool call, or the call that a result repeats. */
export function readCall(message: Message): Call {
  const content = isFields(message.content) ? message.content : null
  const args = readArguments(content?.arguments)
  const fields = isFields(args) ? args : null
  const script = fields?.command ?? fields?.cmd
  const command = Array.isArray(script)
    ? script.map(String).join(' ')
    : typeof script === 'string'
      ? script
      : null
  const removed = textAt(fields, 'old_string', 'old_text', 'old_str')
  const added = textAt(fields, 'new_string', 'new_text', 'new_str')
  const gist = command ?? textAt(fields, ...TELLING) ?? (isNothing(args) ? '' : compact(args))
  return {
    tool: textAt(content, 'function') ?? 'tool',
    args,
    gist: plainLine(gist.slice(0, GIST)),
    command,
    diff: removed === null && added === null ? null : { removed: removed ?? '', added: added ?? '' },
  }
}

/** Arguments come as an object, or as the text of one. */
function readArguments(value: unknown): unknown {
  return typeof value === 'string' ? (parseJson(value) ?? value) : value
}

export type Result = {
  isError: boolean
  /** Text of a terminal or a file; null if it is a value to look into. */
  text: string | null
  value: unknown
  exitCode: number | null
}

/** What a tool answered. */
export function readResult(message: Message): Result {
  const content = isFields(message.content) ? message.content : null
  // lionagi puts what went wrong into the output, beside the call that it repeats there.
  const given = isFields(content?.output) && 'function' in content.output ? content.output : null
  const inside = given?.function === content?.function ? given : null
  const error = content?.error || inside?.error
  const output = content === null ? message.content : inside?.error ? null : content.output
  const isError = Boolean(error)
  const fields = isFields(output) ? output : null
  const exitCode =
    numberAt(fields, 'exit_code', 'returncode', 'code') ?? numberAt(message.node_metadata, 'exit_code')
  const said = outputText(output, fields)
  const complaint = isError && error !== true ? textOf(error) : null
  const text = [complaint, said].filter((part) => part !== null && part !== '').join('\n')
  const isText = said !== null || output === undefined || output === null
  return { isError, text: isText ? text : complaint, value: isText ? null : output, exitCode }
}

/** Output that is text, or that has nothing but text of a terminal in it. */
function outputText(output: unknown, fields: Fields | null): string | null {
  if (typeof output === 'string') return output
  const blocks = readBlocks(output)
  if (blocks !== null) return blocks
  if (fields === null) return null
  const { stdout, stderr } = fields
  if (typeof stdout !== 'string' && typeof stderr !== 'string') return null
  return [stdout, stderr].filter((part) => typeof part === 'string' && part !== '').join('\n')
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : compact(value))

function compact(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

const LARGEST_JSON = 500_000 // characters that are worth looking into

/** The value of a text that is a JSON object or list. */
export function parseJson(text: string): unknown {
  const first = text.trimStart()[0]
  if ((first !== '{' && first !== '[') || text.length > LARGEST_JSON) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** All that a message says, for the clipboard. */
export function wholeText(message: Message, result?: Message): string {
  if (message.kind === 'tool_call' || message.kind === 'tool_result') {
    const call = readCall(message)
    const head = call.command === null ? `${call.tool} ${pretty(call.args)}` : `$ ${call.command}`
    const answer = message.kind === 'tool_result' ? message : result
    return answer === undefined ? head : `${head}\n${resultText(answer)}`
  }
  const { text, rest } = readSpeech(message)
  return [text, rest === null ? null : pretty(rest)].filter((part) => part !== null).join('\n\n')
}

export function resultText(message: Message): string {
  const { text, value } = readResult(message)
  return [text === null ? null : stripAnsi(text), value === null ? null : pretty(value)]
    .filter((part) => part !== null && part !== '')
    .join('\n')
}

export const pretty = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
