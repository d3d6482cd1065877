import { expect, test } from 'vitest'
import type { AdminEvent } from '@/api/admin'
import { describeEvent, targetOf } from './describeEvent'

const event = (
  action: string,
  details: AdminEvent['details'],
  target_id: string | null = null,
): AdminEvent => ({
  id: 'e',
  created_at: 0,
  action,
  target_id,
  details,
  actor: 'ana',
})

test.each([
  [
    event('classify', {
      health: 'stale',
      previous_health: 'idle',
      idle_seconds: 21600,
      process_alive: false,
    }),
    'Classified as stale',
    'was idle · quiet 6h · process gone',
  ],
  [
    event('classify', { health: 'zombie', previous_health: null, idle_seconds: null, process_alive: null }),
    'Classified as zombie',
    'first look',
  ],
  [
    event('classify', {
      health: 'healthy',
      previous_health: 'stale',
      idle_seconds: null,
      process_alive: false,
    }),
    'No longer needs anyone',
    'was stale',
  ],
  [
    event('classify', { health: 'healthy', previous_health: 'stale', idle_seconds: 4, process_alive: true }),
    'Classified as healthy',
    'was stale · quiet 4s · process alive',
  ],
  [
    event('transition', {
      target_status: 'failed',
      reason: 'Its process is gone.',
      note: 'rack 7',
      forced: false,
    }),
    'Transitioned to failed',
    'Its process is gone. · “rack 7”',
  ],
  [
    event('transition', { target_status: 'aborted', reason: 'It hangs.', note: null, forced: true }),
    'Transitioned to aborted',
    'forced · It hangs.',
  ],
  [
    event('prune', { sessions: 41, messages: 1200, keep_days: 30, kept: 3 }),
    'Pruned 41 runs',
    'older than 30 days · 1,200 messages · 3 kept',
  ],
  [
    event('checkpoint', { mode: 'TRUNCATE', busy: false, pages_moved: 7, log_size_after: 0 }),
    'Checkpoint completed',
    'TRUNCATE · 7 pages written back · WAL 0 B',
  ],
  [
    event('vacuum', { before: { size: 912_600_000 }, after: { size: 843_000_000 } }),
    'Vacuum completed',
    '912.6 MB to 843.0 MB',
  ],
  [
    event('cleanup', {
      files: ['a.lock', 'b.tmp'],
      files_left_out: 0,
      bytes: 24,
      kept: [],
      health: 'healthy',
    }),
    'Removed 2 leftovers',
    '24 B · healthy now',
  ],
  [
    event('repair', {
      steps: [{ sentence: '1 record was written.' }],
      previous_health: 'orphaned',
      health: 'stale',
    }),
    'Repaired',
    '1 record was written. · orphaned to stale',
  ],
])('an event says what was done', (said, title, says) => {
  expect(describeEvent(said)).toMatchObject({ title, says })
})

test('an event of another version is shown all the same', () => {
  expect(describeEvent(event('new_thing', { any: [1] }))).toMatchObject({ title: 'new thing', says: '' })
  expect(describeEvent(event('prune', { sessions: 'many' }))).toMatchObject({ title: 'Pruned 0 runs' })
  expect(describeEvent(event('vacuum', {}))).toMatchObject({ title: 'Vacuum completed', says: '' })
})

test('the target of an event is a run, except where a gate judged a play', () => {
  expect(targetOf(event('transition', {}, '0123456789'))).toEqual({
    id: '0123456789',
    label: '01234567',
    isRun: true,
  })
  expect(targetOf(event('gate', {}, 'play-1'))?.isRun).toBe(false)
  expect(targetOf(event('vacuum', {}))).toBeNull()
})
