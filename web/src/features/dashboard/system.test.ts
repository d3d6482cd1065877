import { expect, test } from 'vitest'
import type { Stats } from '@/api/dashboard'
import { systemWord } from './system'

const system: Stats['system'] = {
  version: '0.1.0',
  started_at: 0,
  engine: 'SQLite',
  db_size_bytes: 1,
  wal_bytes: 1,
  connections: null,
  sse_streams: 1,
  feed_problem: null,
  legacy: 0,
  doctor: {
    is_running: true,
    every_seconds: 300,
    failures_in_a_row: 0,
    watched_processes: 0,
    deaths_seen: 0,
    last_round: null,
    last_failure: null,
  },
}

test('a studio whose feed and doctor work is healthy', () => {
  expect(systemWord(system)).toMatchObject({ isWell: true, says: 'System healthy' })
})

test('what does not work is named, with its cause', () => {
  expect(systemWord({ ...system, feed_problem: 'The disk is full.' })).toMatchObject({
    isWell: false,
    says: 'Live news do not come',
    because: 'The disk is full.',
  })
  const doctor = {
    ...system.doctor,
    failures_in_a_row: 2,
    last_failure: { at: 1, sentence: 'It is locked.' },
  }
  expect(systemWord({ ...system, doctor }).because).toBe('2 looks failed. It is locked.')
  expect(systemWord({ ...system, doctor: { ...system.doctor, is_running: false } }).isWell).toBe(false)
})
