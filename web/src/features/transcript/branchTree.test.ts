import { expect, test } from 'vitest'
import { type Branch, growTree } from './branchTree'

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
