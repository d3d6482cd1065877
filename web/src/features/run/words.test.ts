import { expect, test } from 'vitest'
import type { Branch, RunInFull, ToolErrors } from '@/api/runs'
import {
  errorPlaces,
  failureText,
  fittingAction,
  modelsOf,
  moreFilesWords,
  splitPath,
  whyNotEnded,
  writtenWords,
} from './words'

const branch = (id: string, model: string | null = null): Branch => ({
  id,
  name: id,
  created_at: 0,
  parent_branch_id: null,
  forked_at: null,
  message_count: 3,
  history_length: 3,
  system_msg_id: null,
  model,
  last_at: 10,
  activity: null,
})
const errors = (at: number, position: number, by_branch: Record<string, number>): ToolErrors => ({
  tool: 'bash',
  sentence: 'no disk',
  times: 1,
  first_at: at,
  last_at: at,
  last_message_id: 'e',
  by_branch,
  latest: [{ message_id: 'e', at, place: { branch_id: 'main', position } }],
})
// Only what the words need of a run.
const run = (more: object): RunInFull =>
  ({
    id: 'run-1',
    status: 'running',
    effective_health: 'healthy',
    actions: ['inspect'],
    state: { reasons: [] },
    evidence: { process: 'alive' },
    branches: [branch('main', 'a/one'), branch('retry', 'b/two')],
    tool_errors: [],
    first_tool_error: null,
    usage_by_model: {},
    ...more,
  }) as unknown as RunInFull

test('the one action that fits follows the state', () => {
  const place = { branch_id: 'main', position: 4 }
  const first_tool_error = { message_id: 'e', at: 10, place }
  expect(fittingAction(run({ actions: ['inspect', 'transition'] }))).toEqual({ action: 'transition' })
  expect(fittingAction(run({}))).toEqual({ action: 'copy' })
  expect(fittingAction(run({ status: 'completed', first_tool_error }))).toEqual({ action: 'export' })
  expect(fittingAction(run({ status: 'completed', actions: ['inspect', 'cleanup', 'prune'] }))).toEqual({
    action: 'cleanup',
  })
  expect(fittingAction(run({ actions: ['inspect', 'repair', 'transition'] }))).toEqual({ action: 'repair' })
  expect(fittingAction(run({ actions: ['inspect', 'logs'] }))).toEqual({ action: 'copy' })
  expect(fittingAction(run({ status: 'failed' }))).toEqual({ action: 'export' })
  expect(fittingAction(run({ status: 'failed', first_tool_error }))).toEqual({
    action: 'first error',
    place,
  })
  const late = { reasons: [{ code: 'run.health.wrote_after_end', sentence: '', evidence: [] }] }
  expect(fittingAction(run({ status: 'cancelled', state: late }))).toEqual({
    action: 'show them',
    place: { branch_id: 'main', position: 3 },
  })
})

test('a run that works says why it cannot be ended, one that is dead does not', () => {
  expect(whyNotEnded(run({}))?.says).toMatch(/^Its process is alive/)
  expect(whyNotEnded(run({ evidence: { process: 'unknown' } }))?.says).toMatch(/may still work/)
  expect(whyNotEnded(run({}))?.command).toBe('li runs kill run-1')
  expect(whyNotEnded(run({ id: "a b; rm 'x'" }))?.command).toBe("li runs kill 'a b; rm '\\''x'\\'''")
  expect(whyNotEnded(run({ actions: ['transition'] }))).toBeNull()
  expect(whyNotEnded(run({ effective_health: 'unresponsive' }))).toBeNull()
  expect(whyNotEnded(run({ status: 'completed' }))).toBeNull()
})

test('branches with errors are named, the worst first', () => {
  const found = run({ branches: [branch('main'), branch('retry')] })
  expect(errorPlaces(found, errors(0, 1, { retry: 2, main: 5 }))).toBe('main 5 · retry 2')
  const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => [id, 1]))
  expect(errorPlaces(found, errors(0, 1, many))).toMatch(/ · and 2 more branches$/)
  expect(errorPlaces(found, { ...errors(0, 1, { main: 1 }), times: 7 })).toBe('of the last 1 main 1')
})

test('models are those the branches began with, then those that answered', () => {
  expect(modelsOf(run({ usage_by_model: { 'a/one': {}, 'c/three': {}, unknown: {} } }))).toEqual([
    'a/one',
    'b/two',
    'c/three',
  ])
})

const touched = (how: ('read' | 'written')[], files_left_out: number) => ({
  files: how.map((one) => ({ how: one }) as RunInFull['files'][number]),
  files_left_out,
})

test('only what is known is said of files that are left out', () => {
  expect(writtenWords(touched(['written', 'read'], 0))).toBe('1 written')
  expect(writtenWords(touched(['written', 'read'], 2_832))).toBe('1 written')
  expect(writtenWords(touched(['written', 'written'], 2_832))).toBe('at least 2 written')
  expect(moreFilesWords(touched(['written', 'read'], 0), 1)).toBe('Show 1 more file')
  expect(moreFilesWords(touched(['written', 'read', 'read'], 2_832), 1)).toBe('Show 2 of 2,834 more files')
})

test('a path is cut in its folder', () => {
  expect(splitPath('src/ledger/chunks.py')).toEqual({ folder: 'src/ledger/', name: 'chunks.py' })
  expect(splitPath('README')).toEqual({ folder: '', name: 'README' })
  expect(splitPath('/tmp/folder/')).toEqual({ folder: '/tmp/', name: 'folder/' })
  expect(splitPath('/')).toEqual({ folder: '', name: '/' })
  const began = performance.now()
  splitPath(`${'/'.repeat(200_000)}x`)
  expect(performance.now() - began).toBeLessThan(2_000) // and not a minute
  expect(splitPath('a/\u202efdp.exe').name).toBe('⟨RLO⟩fdp.exe')
})

test('what a failed tool said is its output, then its error', () => {
  expect(failureText({ output: 'exit 1', error: true })).toBe('exit 1')
  expect(failureText({ output: null, error: 'not found' })).toBe('not found')
  expect(failureText({ output: { code: 1 }, error: true })).toBe('{\n  "code": 1\n}')
  expect(failureText({ output: 'npm error', error: 'exit code 1' })).toBe('npm error\nexit code 1')
  expect(failureText('boom')).toBe('boom')
})
