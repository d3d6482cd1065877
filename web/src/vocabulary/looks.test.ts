import { expect, test } from 'vitest'
import type { Schema } from '@/api/client'
import { lookOf } from './looks'

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
  ['a show with a refused play', { lifecycle: 'running', health: 'degraded' }, 'gate'],
  ['a show that needs a person', { lifecycle: 'blocked', health: 'degraded' }, 'blocked'],
  ['a play that needs a person', { lifecycle: 'blocked', outcome: 'escalated' }, 'escalated'],
  ['a run whose process is gone', { health: 'process_dead' }, 'process_dead'],
] as const)('%s has an icon of its own', (_, some, icon) => {
  expect(lookOf(state(some)).icon).toBe(icon)
})
