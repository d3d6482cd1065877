// @vitest-environment jsdom

import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Schema } from '@/api/client'
import { Chain } from './Chain'

const state: Schema['StateOut'] = {
  lifecycle: 'running',
  outcome: 'none',
  health: 'process_dead',
  delivery: 'not_expected',
  severity: 'critical',
  tone: 'danger',
  reasons: [],
}

test('a state is one sentence of words, with the stored word for those who ask', () => {
  const { container } = render(
    <Chain words={['Running', 'quiet 9h', 'process gone', '42 messages']} state={state} raw="running" />,
  )
  expect(container).toHaveTextContent('Running · quiet 9h · process gone')
  expect(container).not.toHaveTextContent('42 messages')
  expect(screen.getByTitle('status running')).toHaveClass('t-stale')
})

test('the page of a run shows all of it', () => {
  const { container } = render(
    <Chain words={['Running', 'quiet 9h', 'process gone', '42 messages']} state={state} size="page" />,
  )
  expect(container).toHaveTextContent('42 messages')
})

test('silence goes on while nobody asks the server', () => {
  const since = Date.now() / 1000 - 10.5 * 3600
  const { container } = render(<Chain words={['Running', 'quiet 9h']} state={state} quietSince={since} />)
  expect(container).toHaveTextContent('Running · quiet 10h')
})

test('each part has its own fill, so that one without room takes it along', () => {
  render(<Chain words={['Running', 'quiet 9h']} state={state} raw="running" />)
  const chain = screen.getByTitle('status running')
  expect(chain).not.toHaveClass('bg-tone-soft')
  for (const part of chain.children) expect(part).toHaveClass('bg-tone-soft')
})

test('what a name hides can be seen', () => {
  const { container } = render(<Chain words={['Aborted', 'by \u202eanna']} state={state} />)
  expect(container).toHaveTextContent('Aborted · by ⟨RLO⟩anna')
})
