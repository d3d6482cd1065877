// @vitest-environment jsdom

import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Dotted } from './Dotted'

test('a code reads as it is, and breaks after its dots only', () => {
  const { container } = render(<Dotted text="run.completed.normal" />)
  expect(container).toHaveTextContent('run.completed.normal')
  expect(container.innerHTML).toBe('run.<wbr>completed.<wbr>normal')
})
