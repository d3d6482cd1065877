import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import Markdown from './Markdown'

test.each([
  ['quotes', '>'.repeat(4_900)],
  ['lists', '- '.repeat(2_400)],
  ['indented lists', Array.from({ length: 190 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n')],
])('%s in each other by the thousand are shown as they were written', (_, text) => {
  const { container } = render(<Markdown text={text} />)
  expect(container.textContent).toBe(text)
  expect(container.querySelector('blockquote, ul')).toBeNull()
})

test('markdown is drawn, and no markup of its own', () => {
  render(<Markdown text={'**bold** <b>not</b>'} />)
  expect(screen.getByText('bold').tagName).toBe('STRONG')
  expect(screen.getByText(/<b>not<\/b>/)).toBeDefined()
})
