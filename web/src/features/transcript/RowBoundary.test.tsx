// @vitest-environment jsdom

import { render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { Message } from '@/api/messages'
import { RowBoundary } from './RowBoundary'

const message = (text: string): Message => ({
  id: 'm',
  position: 7,
  kind: 'assistant',
  role: 'assistant',
  content: text,
  created_at: 0,
  sender: null,
  recipient: null,
  channel: null,
  node_metadata: null,
  branch_ids: [],
  lion_class: '',
})

function Drawn({ of }: { of: Message }) {
  if (of.content === 'bad') throw new RangeError('too deep')
  return <p>drawn: {String(of.content)}</p>
}

const row = (of: Message) => (
  <RowBoundary message={of} result={undefined} position={7}>
    <Drawn of={of} />
  </RowBoundary>
)

test('a message that cannot be drawn is told as it is, until it is another one', () => {
  const complain = vi.spyOn(console, 'error').mockReturnValue() // React says that it was caught
  const { rerender } = render(row(message('bad')))
  expect(screen.getByText('Message 7 cannot be drawn.')).toBeDefined()
  expect(screen.getByText('bad')).toBeDefined()
  rerender(row(message('good')))
  expect(screen.getByText('drawn: good')).toBeDefined()
  complain.mockRestore()
})
