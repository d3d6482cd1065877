import { expect, test } from 'vitest'
import type { Branch, RunInFull } from '@/api/runs'
import { lanesOf, marksOf, nearest, placeOf, rangeOf, ticksOf } from './lanes'

const branch = (id: string, parent: string | null = null, more: Partial<Branch> = {}): Branch => ({
  id,
  name: id,
  created_at: 0,
  parent_branch_id: parent,
  forked_at: parent === null ? null : 2,
  message_count: 3,
  history_length: 5,
  system_msg_id: null,
  model: null,
  last_at: null,
  activity: null,
  ...more,
})

const run = (more: Partial<RunInFull>): RunInFull =>
  ({
    status: 'running',
    activity: { kind: 'model', tool: null, since: 100, branch_id: 'main' },
    created_at: 0,
    started_at: 100,
    ended_at: null,
    last_message_at: 150,
    tool_errors: [],
    evidence: { heartbeat_at: null },
    ...more,
  }) as RunInFull

test('a run that works goes on until now, one whose process is gone ends with its last sign of life', () => {
  expect(rangeOf(run({}), 400)).toEqual({ from: 100, to: 400, isNow: true, isSilent: false })
  expect(rangeOf(run({ activity: null }), 40_000)).toEqual({
    from: 100,
    to: 150,
    isNow: false,
    isSilent: true,
  })
  expect(rangeOf(run({ status: 'failed', ended_at: 180, activity: null }), 400)).toEqual({
    from: 100,
    to: 180,
    isNow: false,
    isSilent: false,
  })
})

test('a heartbeat is a sign of life, too', () => {
  const gone = run({ activity: null })
  expect(rangeOf({ ...gone, evidence: { ...gone.evidence, heartbeat_at: 190 } }, 40_000).to).toBe(190)
})

test('a run that was over at once has a width, and one that spoke after its end shows that', () => {
  const atOnce = run({ status: 'completed', activity: null, ended_at: 100, last_message_at: null })
  expect(rangeOf(atOnce, 400)).toEqual({ from: 100, to: 101, isNow: false, isSilent: false })
  expect(rangeOf(run({ status: 'cancelled', ended_at: 120, activity: null }), 400).to).toBe(150)
})

test('moments outside of the range stand at its ends', () => {
  const range = { from: 100, to: 200, isNow: false, isSilent: false }
  expect([50, 125, 900].map((at) => placeOf(at, range))).toEqual([0, 25, 100])
})

test('a fork stands below what it was forked from, and a lost parent loses no branch', () => {
  const lanes = lanesOf([
    branch('main'),
    branch('verifier', 'main'),
    branch('b'),
    branch('retry', 'verifier'),
  ])
  expect(lanes.map((lane) => [lane.branch.id, lane.depth, lane.rowsUp])).toEqual([
    ['main', 0, null],
    ['verifier', 1, 1],
    ['retry', 2, 1],
    ['b', 0, null],
  ])
  expect(lanesOf([branch('alone', 'gone')]).map((lane) => lane.branch.id)).toEqual(['alone'])
})

test('what a branch waits for now is a mark that goes on, and errors stand where they happened', () => {
  const waiting = branch('main', null, {
    activity: { kind: 'tool', tool: 'bash', since: 300, branch_id: 'main' },
  })
  const failed = run({
    tool_errors: [
      {
        tool: 'edit',
        sentence: 'not found',
        times: 2,
        first_at: 120,
        last_at: 130,
        last_message_id: 'e',
        by_branch: { main: 1, other: 1 },
        latest: [
          { message_id: 'e', at: 130, place: { branch_id: 'main', position: 4 } },
          { message_id: 'd', at: 120, place: { branch_id: 'other', position: 2 } },
        ],
      },
    ],
  })
  const range = { from: 100, to: 492, isNow: true, isSilent: false }
  const spans = [{ kind: 'model', from_at: 100, to_at: 110, position: 2, tool: null }] as const
  expect(
    marksOf(waiting, spans, failed, range).map((mark) => [mark.says, mark.position, mark.isOpen]),
  ).toEqual([
    ['model 10s', 2, false],
    ['edit failed: not found', 4, false],
    ['running bash for 3m 12s', 5, true],
  ])
})

test('pointing beside an error finds it, and pointing into the open finds nothing', () => {
  const range = { from: 0, to: 100, isNow: false, isSilent: false }
  const model = { kind: 'model', from: 0, to: 50, position: 1, isOpen: false, says: '' } as const
  const error = { kind: 'error', from: 20, to: 20, position: 2, isOpen: false, says: '' } as const
  expect(nearest([model, error], 20.4, range, 0.6)).toBe(1)
  expect(nearest([model, error], 30, range, 0.6)).toBe(0)
  expect(nearest([model, error], 80, range, 0.6)).toBe(-1)
})

test('a timeline has a few round moments, however long it is', () => {
  for (const seconds of [1, 7, 59, 600, 2834, 40_000, 900_000, 40_000_000]) {
    const ticks = ticksOf({ from: 1_790_000_003, to: 1_790_000_003 + seconds, isNow: false, isSilent: false })
    expect(ticks.length).toBeLessThanOrEqual(6)
    if (seconds > 5) expect(ticks.length).toBeGreaterThanOrEqual(2)
  }
})
