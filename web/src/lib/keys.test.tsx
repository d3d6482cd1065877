// @vitest-environment jsdom

import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { groupsOf } from '@/features/shell/KeyHelp'
import { type KeyActions, useBindings, useKeys } from './keys'

function Keys({ actions, group }: { actions: KeyActions; group?: string }) {
  useKeys(actions, group)
  return null
}

function Help() {
  return <output>{JSON.stringify(groupsOf(useBindings()))}</output>
}

test('two keys one after the other are one, and the second of them does nothing else', async () => {
  const go = vi.fn()
  const theme = vi.fn()
  render(<Keys actions={{ 'g t': go, t: theme }} />)
  await userEvent.keyboard('gt')
  expect([go.mock.calls.length, theme.mock.calls.length]).toEqual([1, 0])
  await userEvent.keyboard('t')
  expect([go.mock.calls.length, theme.mock.calls.length]).toEqual([1, 1])
  await userEvent.keyboard('gxt')
  expect([go.mock.calls.length, theme.mock.calls.length]).toEqual([1, 2])
})

test('letters rest in a field, commands do not', async () => {
  const letter = vi.fn()
  const command = vi.fn()
  render(
    <>
      <Keys actions={{ t: letter, 'Ctrl+k': command }} />
      <input aria-label="field" />
      <input aria-label="box" type="checkbox" />
    </>,
  )
  await userEvent.click(screen.getByLabelText('field'))
  await userEvent.keyboard('t{Control>}k{/Control}')
  expect([letter.mock.calls.length, command.mock.calls.length]).toEqual([0, 1])
  screen.getByLabelText('box').focus()
  await userEvent.keyboard('t')
  expect(letter).toHaveBeenCalledOnce()
})

test('all keys rest while a dialog has the focus', async () => {
  const act = vi.fn()
  render(
    <>
      <Keys actions={{ t: act, 'Ctrl+k': act }} />
      <div role="dialog">
        <button type="button">inside</button>
      </div>
    </>,
  )
  screen.getByText('inside').focus()
  await userEvent.keyboard('t{Control>}k{/Control}')
  expect(act).not.toHaveBeenCalled()
})

test('Enter belongs to the link that has the focus', async () => {
  const act = vi.fn()
  render(
    <>
      <Keys actions={{ Enter: act }} />
      <button type="button">inside</button>
    </>,
  )
  screen.getByText('inside').focus()
  await userEvent.keyboard('{Enter}')
  expect(act).not.toHaveBeenCalled()
  screen.getByText('inside').blur()
  await userEvent.keyboard('{Enter}')
  expect(act).toHaveBeenCalledOnce()
})

test('a page goes before the frame, and its keys are gone with it', async () => {
  const frame = vi.fn()
  const page = vi.fn()
  const { rerender } = render(
    <>
      <Keys actions={{ c: frame }} group="Everywhere" />
      <Keys actions={{ c: page }} />
    </>,
  )
  await userEvent.keyboard('c')
  rerender(<Keys actions={{ c: frame }} group="Everywhere" />)
  await userEvent.keyboard('c')
  expect([frame.mock.calls.length, page.mock.calls.length]).toEqual([1, 1])
})

test('the help lists what is there now, in the words of who has it', () => {
  render(
    <>
      <Keys actions={{ '?': { does: 'This help', act: () => undefined } }} group="Everywhere" />
      <Keys
        actions={{
          j: () => undefined,
          ArrowDown: { does: 'Next row', act: () => undefined },
          q: () => undefined,
        }}
      />
      <Help />
    </>,
  )
  expect(JSON.parse(screen.getByRole('status').textContent)).toEqual([
    ['Everywhere', [{ keys: ['?'], does: 'This help' }]],
    ['This page', [{ keys: ['j', 'ArrowDown'], does: 'Next row' }]],
  ])
})
