import { expect, test } from 'vitest'
import type { Message } from '@/api/messages'
import { isVerbatim, readCall, readResult, readSpeech, readThinking, readUse, wholeText } from './reading'

const message = (
  kind: Message['kind'],
  content: unknown,
  node_metadata: Message['node_metadata'] = null,
): Message => ({
  id: 'one',
  position: 1,
  branch_ids: null,
  created_at: 0,
  kind,
  role: kind,
  content,
  sender: null,
  recipient: null,
  channel: null,
  lion_class: '',
  node_metadata,
})

test.each<[Message['kind'], unknown, string | null, unknown]>([
  ['user', { instruction: 'Do it' }, 'Do it', null],
  [
    'user',
    { instruction: 'Do it', guidance: null, prompt_context: ['a'] },
    'Do it',
    { prompt_context: ['a'] },
  ],
  ['assistant', { assistant_response: 'Done' }, 'Done', null],
  [
    'user',
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
    'a\n\nb',
    null,
  ],
  ['other', 'plain words', 'plain words', null],
  ['other', { odd: 1 }, null, { odd: 1 }],
  ['assistant', { assistant_response: { choice: 2 } }, null, { assistant_response: { choice: 2 } }],
  ['other', null, null, null],
])('%s saying %j is read as text and the rest', (kind, content, text, rest) => {
  expect(readSpeech(message(kind, content))).toEqual({ text, rest })
})

test('a call tells what matters most on one line', () => {
  const call = readCall(message('tool_call', { function: 'bash', arguments: { cmd: 'make\n  test\u202e' } }))
  expect(call).toMatchObject({
    tool: 'bash',
    gist: 'make test⟨RLO⟩',
    command: 'make\n  test\u202e',
    diff: null,
  })
  expect(readCall(message('tool_call', { function: 'read', arguments: '{"path": "a.py"}' })).gist).toBe(
    'a.py',
  )
  expect(readCall(message('tool_call', { function: 'odd', arguments: { n: 1 } })).gist).toBe('{"n":1}')
})

test('an edit is what it takes away and what it puts there', () => {
  const content = { function: 'edit', arguments: { path: 'a.py', old_string: 'x', new_string: 'y\nz' } }
  expect(readCall(message('tool_call', content)).diff).toEqual({ removed: 'x', added: 'y\nz' })
})

test.each([
  [{ output: 'ok' }, { isError: false, text: 'ok', value: null, exitCode: null }],
  [
    { output: '1 failed', error: true },
    { isError: true, text: '1 failed', value: null, exitCode: null },
  ],
  [
    { output: null, error: 'no such file' },
    { isError: true, text: 'no such file', value: null, exitCode: null },
  ],
  [
    { output: { stdout: 'a', stderr: 'b', exit_code: 2 } },
    { isError: false, text: 'a\nb', value: null, exitCode: 2 },
  ],
  [{ output: { rows: [1] } }, { isError: false, text: null, value: { rows: [1] }, exitCode: null }],
  [
    { function: 'bash', output: { error: 'no', function: 'bash', arguments: {} } },
    { isError: true, text: 'no', value: null, exitCode: null },
  ],
  [
    { output: { error: 'of no call' } },
    { isError: false, text: null, value: { error: 'of no call' }, exitCode: null },
  ],
  [
    { function: 'bash', output: { error: 'a word in a page' } },
    { isError: false, text: null, value: { error: 'a word in a page' }, exitCode: null },
  ],
  [{}, { isError: false, text: '', value: null, exitCode: null }],
])('the result %j', (content, read) => {
  expect(readResult(message('tool_result', content))).toEqual(read)
})

test('thoughts and tokens come from what the runtime says of itself', () => {
  const said = message('assistant', '', {
    thinking: 'Hm.',
    thinking_ms: 11_000,
    model: 'm',
    usage: { input_tokens: 100, cache_read_tokens: 900, output_tokens: 7 },
  })
  expect(readThinking(said)).toEqual({ text: 'Hm.', seconds: 11 })
  expect(readUse(said)).toEqual({ model: 'm', read: 1000, wrote: 7 })
  expect(readUse(message('assistant', ''))).toEqual({ model: null, read: null, wrote: null })
})

test('a call is copied with its result and without the colours of the terminal', () => {
  const call = message('tool_call', { function: 'bash', arguments: { cmd: 'ls' } })
  const result = message('tool_result', { output: '\u001b[34msrc\u001b[0m' })
  expect(wholeText(call, result)).toBe('$ ls\nsrc')
})

test('a command and what it printed are shown letter by letter, and nothing else is', () => {
  expect(isVerbatim(message('user', { instruction: 'ls *' }, { argv: ['ls', '*'] }))).toBe(true)
  expect(isVerbatim(message('assistant', { assistant_response: '# x' }, { stream: 'stdout' }))).toBe(true)
  expect(isVerbatim(message('assistant', { assistant_response: '# x' }, { model: 'm' }))).toBe(false)
  expect(isVerbatim(message('user', { instruction: 'Do it' }))).toBe(false)
})
