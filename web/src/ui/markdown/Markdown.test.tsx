// @vitest-environment jsdom

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

test('a long text can be read at once, and is drawn piece by piece', async () => {
  const sections = Array.from({ length: 12 }, (_, at) => `Section **${at}**. ${'It goes on. '.repeat(60)}`)
  const { container } = render(<Markdown text={sections.join('\n\n')} />)
  expect(screen.getByText('0').tagName).toBe('STRONG')
  expect(container.textContent).toMatch(/Section (\*\*)?11/)
  expect(await screen.findByText('11', undefined, { timeout: 10_000 })).toHaveProperty('tagName', 'STRONG')
  expect(container.textContent).not.toContain('**')
})
