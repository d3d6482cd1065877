import { expect, test } from 'vitest'
import type { Concern } from '@/api/dashboard'
import { reasonOf } from './concerns'

const state = (...codes: string[]): Concern['state'] => ({
  lifecycle: 'running',
  outcome: 'none',
  health: 'running',
  delivery: 'not_expected',
  severity: 'info',
  tone: 'info',
  reasons: codes.map((code) => ({ code, sentence: `It is ${code}.`, evidence: [] })),
})

test('a run that is only slow says how long it has been running, not that it is well', () => {
  const told = reasonOf({ signals: ['slow'], state: state('run.health.process_alive', 'run.health.slow') })
  expect(told).toBe('It is run.health.slow.')
})

test('a zombie says what it left behind, not how it ended', () => {
  const told = reasonOf({
    signals: ['zombie'],
    state: state('run.completed.normal', 'run.health.temp_files'),
  })
  expect(told).toBe('It is run.health.temp_files.')
})

test('what failed says why, and a thing without reasons says nothing', () => {
  expect(reasonOf({ signals: ['failed_24h'], state: state('run.failed.signal') })).toBe(
    'It is run.failed.signal.',
  )
  expect(reasonOf({ signals: ['failed_24h'], state: state() })).toBe('')
})
