// @vitest-environment jsdom

import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Play } from '@/api/shows'
import { PlayState } from './PlayState'
import { GATE_MARKS, INTEGRATION_MARKS, PILL_MARKS, pillOf, progressOf } from './playLooks'

type Cell = Pick<Play, 'badges' | 'state' | 'session' | 'meta'>

const cell = (badges: Play['badges'], health: Play['state']['health'] = 'ok'): Cell => ({
  badges,
  session: null,
  state: {
    lifecycle: 'running',
    outcome: 'none',
    health,
    delivery: 'not_expected',
    severity: 'neutral',
    tone: 'neutral',
    reasons: [],
  },
  meta: {
    worktree: null,
    branch: null,
    attempt: 1,
    started_at: null,
    ended_at: null,
    exit_code: null,
    merged_at: null,
    merge_sha: null,
    status: 'merged',
  },
})

test('one cell holds the pill, the gate and the integration, in this order', () => {
  const { container } = render(
    <PlayState play={cell({ pill: 'completed', gate: 'passed', integration: 'merged' })} />,
  )
  expect(container.textContent).toBe('completedpassedmerged')
  expect(container.querySelector('[title="status merged"]')).not.toBeNull()
})

test('only the lifecycle is filled; gate and integration are outlines', () => {
  const { getByText } = render(
    <PlayState play={cell({ pill: 'failed', gate: 'gate failed', integration: 'needs you' })} />,
  )
  expect(getByText('failed').parentElement).toHaveClass('t-danger', 'bg-tone-soft')
  expect(getByText('gate failed')).toHaveClass('t-danger', 'border-tone-line')
  expect(getByText('gate failed')).not.toHaveClass('bg-tone-soft')
  expect(getByText('needs you')).toHaveClass('t-review', 'border-tone-line')
})

test('the words have the colours that were agreed on', () => {
  const tones = (marks: Record<string, { tone: string }>) =>
    Object.fromEntries(Object.entries(marks).map(([word, mark]) => [word, mark.tone]))
  expect(tones(PILL_MARKS)).toMatchObject({
    pending: 'warning',
    running: 'info',
    'awaiting gate': 'warning',
    completed: 'success',
    failed: 'danger',
    aborted: 'neutral',
  })
  expect(tones(GATE_MARKS)).toMatchObject({
    passed: 'success',
    'gate failed': 'danger',
    'gate skipped': 'neutral',
  })
  expect(tones(INTEGRATION_MARKS)).toMatchObject({ merged: 'success', local: 'neutral' })
})

test('a play at work whose process is gone is never shown as well', () => {
  const play = cell({ pill: 'running', gate: null, integration: null }, 'process_dead')
  expect(pillOf(play)).toMatchObject({ tone: 'stale', icon: 'process_dead' })
})

test('every play is in exactly one part of the bar', () => {
  const parts = progressOf({
    merged: 4,
    running: 1,
    redoing: 1,
    escalated: 1,
    running_complete: 1,
    pending: 4,
  })
  expect(parts.filter((part) => part.count > 0).map((part) => [part.label, part.count])).toEqual([
    ['merged', 4],
    ['running', 2],
    ['failed', 1],
    ['awaiting gate', 1],
    ['pending', 4],
  ])
})
