import { expect, test } from 'vitest'
import { factsOf, type Judged, rulingOf } from './evidence'

const NOW = 1_000_000
const HOUR = 3600

const branch = (id: string, length: number, last_at: number): Judged['branches'][number] => ({
  id,
  name: id,
  created_at: 0,
  parent_branch_id: null,
  forked_at: null,
  message_count: length,
  history_length: length,
  system_msg_id: null,
  model: null,
  last_at,
  activity: null,
})

function runOf(changes: Partial<Judged> = {}): Judged {
  return {
    status: 'running',
    effective_health: 'stale',
    state: {
      lifecycle: 'running',
      outcome: 'none',
      health: 'process_dead',
      delivery: 'not_expected',
      severity: 'critical',
      tone: 'danger',
      reasons: [
        {
          code: 'run.health.process_dead',
          sentence: 'The process ended and the run never said how.',
          evidence: [],
        },
        { code: 'run.health.quiet', sentence: 'Nothing was heard for 9 hours.', evidence: [] },
      ],
    },
    last_message_at: NOW - 9 * HOUR,
    message_count: 42,
    branches: [branch('main', 40, NOW - 10 * HOUR), branch('retry', 9, NOW - 9 * HOUR)],
    ended_at: null,
    ended_by: null,
    exit_code: null,
    artifacts_path: '/tmp/run-1',
    evidence: {
      process: 'dead',
      process_sentence: 'No process 9120 is there.',
      heartbeat_at: null,
      has_artifacts: null,
      stale_locks: [],
      temp_files: [],
      observed_at: NOW,
    },
    processes: [
      {
        role: 'agent',
        pid: 9120,
        host: 'atlas-02',
        state: 'dead',
        sentence: 'Not found since 05:41.',
        command: null,
        heartbeat_at: null,
      },
    ],
    ...changes,
  }
}

test('the verdict is a sentence with the rule that decided', () => {
  expect(rulingOf(runOf())).toEqual({
    word: 'Stale',
    sentence: 'the process ended and the run never said how.',
    code: 'run.health.process_dead',
  })
})

test('what nobody could look at is listed as unknown', () => {
  const facts = factsOf(runOf(), NOW)
  expect(facts.filter((fact) => fact.proof === 'unknown').map((fact) => fact.says)).toEqual([
    'Heartbeat unknown',
    'Files unknown',
  ])
})

test('that the process of an ended run is gone speaks against nothing', () => {
  const [process] = factsOf(runOf({ status: 'completed', effective_health: 'healthy' }), NOW)
  expect(process).toMatchObject({ proof: 'plain', says: 'Process 9120 on atlas-02 is gone' })
})

test('each fact says what proves it', () => {
  const facts = factsOf(runOf(), NOW)
  expect(facts[0]).toEqual({
    proof: 'no',
    says: 'Process 9120 on atlas-02 is gone',
    because: 'Not found since 05:41',
    title: 'Not found since 05:41.',
  })
  expect(facts.at(-1)).toEqual({
    proof: 'plain',
    says: 'Stored status is running',
    because: 'no timer ends it',
  })
  const last = facts.find((fact) => fact.says === 'Last message 9h ago')
  expect([last?.because, last?.place]).toEqual(['retry #9', { branch_id: 'retry', position: 9 }])
})

test.each([
  ['pid 9120 is alive on atlas-02, same boot and start time.', 'same start time'],
  ['pid 9120 is gone from atlas-02.', 'not found'],
  ['pid 9120 is on atlas-02 and cannot be seen from atlas-07.', 'cannot be seen from atlas-07'],
  ['pid 9120 now belongs to another process.', 'now belongs to another process'],
  ['atlas-02 was rebooted since pid 9120 started.', 'atlas-02 was rebooted since pid 9120 started'],
])('the proof of a process says nothing twice', (sentence, because) => {
  const [process] = runOf().processes
  const [first] = factsOf(runOf({ processes: process === undefined ? [] : [{ ...process, sentence }] }), NOW)
  expect([first?.because, first?.title]).toEqual([because, sentence])
})

test('a heartbeat is missed only where the process cannot be looked at', () => {
  const because = (process: 'dead' | 'unknown') =>
    factsOf(runOf({ evidence: { ...runOf().evidence, process } }), NOW)[1]?.because
  expect(because('dead')).toBe('not needed, its process is looked at')
  expect(because('unknown')).toBe('none was sent')
})

test('a long folder is told by its end', () => {
  const run = runOf({
    artifacts_path: '/srv/studio/artifacts/parser',
    evidence: { ...runOf().evidence, has_artifacts: true },
  })
  expect(factsOf(run, NOW)).toContainEqual({
    proof: 'plain',
    says: 'It wrote files',
    because: '…/artifacts/parser',
    title: '/srv/studio/artifacts/parser',
  })
})

test('a run without a process has one that is unknown', () => {
  const [first] = factsOf(runOf({ processes: [] }), NOW)
  expect(first?.proof).toBe('unknown')
  expect(first?.says).toBe('Process unknown')
})

test('an ended run that left locks is a zombie, whatever it ended with', () => {
  const before = runOf()
  const run = runOf({
    status: 'completed',
    effective_health: 'zombie',
    exit_code: 0,
    state: {
      ...before.state,
      reasons: [
        { code: 'run.completed.normal', sentence: 'The run ended by itself.', evidence: [] },
        {
          code: 'run.health.stale_locks',
          sentence: 'The run has ended and left 2 stale locks behind.',
          evidence: [],
        },
      ],
    },
    evidence: { ...before.evidence, stale_locks: ['/tmp/a/one.lock', '/tmp/a/two\u202e.lock'] },
  })
  expect(rulingOf(run).word).toBe('Zombie')
  expect(rulingOf(run).code).toBe('run.health.stale_locks')
  expect(factsOf(run, NOW)).toContainEqual({
    proof: 'no',
    says: '2 stale locks',
    because: 'one.lock, two⟨RLO⟩.lock',
  })
})

test('a run that ended says how', () => {
  const before = runOf()
  const run = runOf({
    status: 'failed',
    effective_health: 'healthy',
    exit_code: 3,
    ended_by: 'mira',
    state: {
      ...before.state,
      reasons: [{ code: 'run.failed.exit_nonzero', sentence: 'It ended with exit 3.', evidence: [] }],
    },
  })
  expect(rulingOf(run)).toEqual({
    word: 'Failed',
    sentence: 'it ended with exit 3.',
    code: 'run.failed.exit_nonzero',
  })
  expect(factsOf(run, NOW).at(-1)?.because).toBe('ended by mira, exit 3')
})
