import { expect, test } from 'vitest'
import type { Branch } from '@/api/runs'
import { branchTone, growTree } from './branches'

const branch = (
  id: string,
  parent_branch_id: string | null = null,
  forked_at: number | null = null,
): Branch => ({
  id,
  name: id,
  created_at: 0,
  parent_branch_id,
  forked_at,
  message_count: 1,
  history_length: 1,
  system_msg_id: null,
  last_at: null,
  model: null,
  activity: null,
})

const drawn = (branches: Branch[]) =>
  growTree(branches).map(({ branch, depth }) => `${'  '.repeat(depth)}${branch.id}`)

test('forks stand under their branch, in the order in which they left it', () => {
  expect(
    drawn([
      branch('main'),
      branch('late', 'main', 9),
      branch('early', 'main', 2),
      branch('retry', 'early', 4),
    ]),
  ).toEqual(['main', '  early', '    retry', '  late'])
})

test('a branch whose parent is not there, or that is its own, is still shown once', () => {
  expect(drawn([branch('a', 'gone'), branch('b', 'c'), branch('c', 'b'), branch('d', 'd')])).toEqual([
    'a',
    'd',
    'b',
    '  c',
  ])
})

test('the dot of a branch says what is wrong with its run, else whom it waits for', () => {
  const busy = (kind: 'tool' | 'human' | 'unknown'): Branch => ({
    ...branch('main'),
    activity: { kind, tool: null, since: 0, branch_id: 'main' },
  })
  const run = { status: 'running', effective_health: 'healthy' } as const
  expect(branchTone(busy('tool'), run)).toBe('info')
  expect(branchTone(busy('human'), run)).toBe('review')
  expect(branchTone(busy('unknown'), run)).toBe('neutral')
  expect(branchTone(branch('main'), run)).toBe('neutral')
  expect(branchTone(busy('tool'), { ...run, effective_health: 'stale' })).toBe('stale')
  expect(branchTone(busy('tool'), { ...run, status: 'failed' })).toBe('neutral')
})
