// @vitest-environment jsdom

import { afterEach, expect, test, vi } from 'vitest'
import { copyText } from './copyText'

afterEach(() => vi.unstubAllGlobals())

/** The old way of copying, as a browser would do it; jsdom has none. */
function selecting(): string[] {
  const copied: string[] = []
  document.execCommand = () => {
    const field = document.activeElement
    if (field instanceof HTMLTextAreaElement) copied.push(field.value)
    return field instanceof HTMLTextAreaElement
  }
  return copied
}

const clipboard = (writeText: (text: string) => Promise<void>) =>
  vi.stubGlobal('navigator', { clipboard: { writeText } })

test('a text is put on the clipboard', async () => {
  const written: string[] = []
  clipboard(async (text) => void written.push(text))
  expect(await copyText('one')).toBe(true)
  expect(written).toEqual(['one'])
})

test('a page without a clipboard, or one that is refused, copies what it selects', async () => {
  const copied = selecting()
  vi.stubGlobal('navigator', {})
  expect(await copyText('one')).toBe(true)
  clipboard(() => Promise.reject(new Error('NotAllowedError')))
  expect(await copyText('two')).toBe(true)
  expect(copied).toEqual(['one', 'two'])
  expect(document.querySelector('textarea')).toBeNull()
})

test('a browser that refuses both ways is believed', async () => {
  vi.stubGlobal('navigator', {})
  document.execCommand = () => false
  expect(await copyText('one')).toBe(false)
})
