import { expect, test } from 'vitest'
import type { Branch, RunInFull } from '@/api/runs'
import { errorsElsewhere } from './errorsElsewhere'

const branch = (id: string): Branch => ({ id, name: id }) as Branch
const [architect, builder, retry] = [branch('architect'), branch('builder'), branch('retry')]
const run = (tool_error_count: number, ...kinds: Record<string, number>[]): RunInFull =>
  ({
    branches: [architect, builder, retry],
    tool_error_count,
    tool_errors: kinds.map((by_branch) => ({ by_branch })),
  }) as unknown as RunInFull

test('a run without errors says so', () => {
  expect(errorsElsewhere(run(0), architect)).toBe('No tool failed in this run')
})

test('errors in other branches are counted, the most first', () => {
  expect(errorsElsewhere(run(2, { builder: 2 }), architect)).toBe('No error in architect; 2 in builder')
  expect(errorsElsewhere(run(4, { builder: 1 }, { retry: 2, builder: 1 }), architect)).toBe(
    'No error in architect; 2 in builder, 2 in retry',
  )
})

test('of errors that are not all told no number is claimed', () => {
  expect(errorsElsewhere(run(900, { builder: 20 }), architect)).toBe('No error in architect; some in builder')
  expect(errorsElsewhere(run(900), architect)).toBe('No error in architect')
})
