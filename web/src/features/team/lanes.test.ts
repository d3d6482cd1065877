import { expect, test } from 'vitest'
import type { Member, TeamMessage } from '@/api/teams'
import { isEscalation, lanesOf } from './lanes'

const NOW = 1_790_000_000

const message = (changes: Partial<TeamMessage>): TeamMessage => ({
  id: String(changes.created_at),
  team_id: 'team',
  team_name: 'team',
  created_at: NOW,
  sender: 'lead',
  recipient: 'all',
  summary: null,
  content: 'hello',
  content_length: 5,
  read_by: [],
  session_id: null,
  session: null,
  node_metadata: null,
  ...changes,
})
const member = (name: string, is_member = true, sent = 1): Member => ({
  name,
  is_member,
  sent,
  received: 0,
  unread: 0,
  last_at: null,
})

test('each member has a lane, and everyone else who wrote', () => {
  const { lanes } = lanesOf([], [member('lead'), member('gone', false), member('reader', false, 0)], NOW)
  expect(lanes.map((lane) => lane.name)).toEqual(['lead', 'gone'])
})

test('a tick stands where and in whose lane it was written, short to one, tall to everyone', () => {
  const { lanes } = lanesOf(
    [
      message({ created_at: NOW - 1000 }),
      message({ created_at: NOW - 500, sender: 'tester', recipient: 'lead' }),
    ],
    [member('lead'), member('tester')],
    NOW,
  )
  const [lead, tester] = lanes
  expect(lead?.ticks.map((tick) => tick.kind)).toEqual(['all'])
  expect(tester?.ticks.map((tick) => tick.kind)).toEqual(['one'])
  expect(tester?.ticks[0]?.place).toBeGreaterThan(lead?.ticks[0]?.place ?? 1)
})

test('the lanes end now while people write, and with the last message when they stopped', () => {
  expect(lanesOf([message({ created_at: NOW - 600 })], [], NOW)).toMatchObject({ until: NOW, isNow: true })
  const old = lanesOf([message({ created_at: NOW - 90_000 }), message({ created_at: NOW - 86_400 })], [], NOW)
  expect(old.isNow).toBe(false)
  expect(old.until).toBeLessThan(NOW - 80_000)
})

test('each mark has its time, and its day where that is a new one', () => {
  const at = (day: number, hour: number): number => new Date(2026, 10, day, hour).getTime() / 1000
  const texts = (first: number, last: number, now: number): string[] =>
    lanesOf([message({ created_at: first }), message({ created_at: last })], [], now).marks.map(
      (mark) => mark.text,
    )
  expect(texts(at(17, 20), at(18, 0), at(18, 1))).toEqual(['17 Nov 19:55', '21:11', '22:27', '23:43', 'now'])
  expect(texts(at(18, 8), at(18, 12), at(18, 12))).toEqual(['07:55', '08:56', '09:57', '10:58', 'now'])
  expect(texts(at(1, 8), at(1, 12), at(18, 12))[0]).toBe('1 Nov 07:55')
  expect(texts(at(1, 8), at(17, 12), at(18, 12))[1]).toBe('5 Nov')
})

test('an escalation is seen by its kind, its first word, or the notice about it', () => {
  expect(isEscalation(message({ node_metadata: { kind: 'escalation' } }))).toBe(true)
  expect(isEscalation(message({ content: 'ESCALATION: twice the same reason' }))).toBe(true)
  expect(isEscalation(message({ sender: 'system', content: 'Play docs escalated: the gate failed' }))).toBe(
    true,
  )
  expect(isEscalation(message({ content: 'nothing escalated today' }))).toBe(false)
})
