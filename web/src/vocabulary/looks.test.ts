import { expect, test } from 'vitest'
import type { Schema } from '@/api/client'
import { HEALTH_COUNT_LOOKS } from './admin'
import { lookOf } from './looks'
import { GATE_MARKS } from './playLooks'
import { SIGNAL_TONES } from './signals'

const state = (some: Partial<Schema['StateOut']>): Schema['StateOut'] => ({
  lifecycle: 'running',
  outcome: 'none',
  health: 'running',
  delivery: 'not_expected',
  severity: 'info',
  tone: 'info',
  reasons: [],
  ...some,
})

test.each([
  [
    'a run that left files behind',
    { lifecycle: 'ended', outcome: 'completed', health: 'degraded' },
    'zombie',
  ],
  ['a show with a refused play', { lifecycle: 'running', health: 'degraded' }, 'gate_failed'],
  ['a show that needs a person', { lifecycle: 'blocked', health: 'degraded' }, 'blocked'],
  ['a play that needs a person', { lifecycle: 'blocked', outcome: 'escalated' }, 'escalated'],
  ['a run that is alive and answers nobody', { health: 'stalled' }, 'unresponsive'],
  ['a run whose process is gone', { health: 'process_dead' }, 'process_dead'],
] as const)('%s has an icon of its own', (_, some, icon) => {
  expect(lookOf(state(some)).icon).toBe(icon)
})

test('a stale run looks stale whether its process is gone or cannot be seen', () => {
  const unseen = { code: 'run.health.process_unknown', sentence: '', evidence: [] }
  const gone = lookOf(state({ health: 'process_dead' }))
  expect(lookOf(state({ health: 'stalled', reasons: [unseen] }))).toEqual(gone)
  expect(lookOf(state({ health: 'stalled' })).tone).toBe('warning')
})

test('a refusal looks the same in a chain, among signals and beside a pill', () => {
  const { tone, icon } = lookOf(state({ lifecycle: 'ended', outcome: 'gate_failed', health: 'ok' }))
  expect({ tone, icon }).toEqual(GATE_MARKS['gate failed'])
  expect(SIGNAL_TONES.gate_failed).toBe(tone)
})

test('a health has one icon, in counts and in chains', () => {
  const healths = {
    idle: 'idle',
    unresponsive: 'stalled',
    stale: 'process_dead',
    orphaned: 'orphaned',
  } as const
  for (const [word, health] of Object.entries(healths))
    expect(HEALTH_COUNT_LOOKS[word as keyof typeof healths].icon).toBe(lookOf(state({ health })).icon)
})
