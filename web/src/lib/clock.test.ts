// @vitest-environment jsdom

import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { holdClock, setClock, timeOfStudio, useNow, useNowAnyway } from './clock'

const HERE = Date.UTC(2026, 4, 21, 9, 0, 0)
const SINCE = HERE / 1000

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

test('ages stand still while the studio is away, and the time without it is counted', () => {
  const { result } = renderHook(() => ({ age: useNow(SINCE) - SINCE, away: useNowAnyway(SINCE) - SINCE }))
  act(() => void vi.advanceTimersByTime(5_000))
  expect(result.current).toEqual({ age: 5, away: 5 })
  act(() => holdClock(timeOfStudio()))
  act(() => void vi.advanceTimersByTime(20_000))
  expect(result.current).toEqual({ age: 5, away: 25 })
  act(() => holdClock(null))
  expect(result.current).toEqual({ age: 25, away: 25 })
})

test('what begins to tick after a time without any knows what time it is', () => {
  renderHook(() => useNow(SINCE)).unmount()
  vi.setSystemTime(HERE + 600_000)
  const { result } = renderHook(() => useNow(SINCE) - SINCE)
  expect(result.current).toBe(600)
})
