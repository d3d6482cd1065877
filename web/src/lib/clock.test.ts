import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setClock, timeOfStudio } from './clock'

const HERE = Date.UTC(2026, 4, 21, 9, 0, 0)

beforeEach(() => {
  vi.useFakeTimers({ now: HERE })
})
afterEach(() => {
  setClock(new Date().toUTCString())
  vi.useRealTimers()
})

const header = (seconds: number): string => new Date(HERE + seconds * 1000).toUTCString()
const ahead = (): number => timeOfStudio() - HERE / 1000

test('the time is that of the studio, however wrong the clock of this machine is', () => {
  setClock(header(600))
  expect(ahead()).toBe(600)
  setClock(header(-7200))
  expect(ahead()).toBe(-7200)
  setClock(header(0))
  expect(ahead()).toBe(0)
})

test('an answer that took its time sets no clock, nor does one without a time', () => {
  setClock(header(-3))
  setClock(null)
  setClock('soon')
  expect(ahead()).toBe(0)
  setClock(header(600))
  setClock(header(597))
  setClock(null)
  expect(ahead()).toBe(600)
})
