import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Connection, type Heard, Line, type Source } from './line'

/** The other end of the line, as a browser would show it. */
class Peer implements Source {
  readyState = 0
  onerror: EventSource['onerror'] = null
  readonly #target = new EventTarget()
  addEventListener = this.#target.addEventListener.bind(this.#target) as Source['addEventListener']

  constructor(readonly address: string) {}

  close(): void {
    this.readyState = 2
  }

  send(type: string, lastEventId: string, data: object = {}): void {
    this.#target.dispatchEvent(new MessageEvent(type, { lastEventId, data: JSON.stringify(data) }))
  }

  fail(readyState: number): void {
    this.readyState = readyState
    this.onerror?.call(this as unknown as EventSource, new Event('error'))
  }
}

let peers: Peer[] = []
let told: Connection[] = []
let refused = 0
let changes: [number, number][] = []
const heard: Heard = {
  opened: () => undefined,
  reload: () => undefined,
  change: (_, seq, before) => changes.push([seq, before]),
  connection: (connection) => told.push(connection),
  refused: () => {
    refused += 1
  },
}
const make = (address: string) => {
  const peer = new Peer(address)
  peers.push(peer)
  return peer
}
const last = () => {
  const peer = peers.at(-1)
  if (peer === undefined) throw new Error('nobody called')
  return peer
}

beforeEach(() => {
  vi.useFakeTimers()
  peers = []
  told = []
  changes = []
  refused = 0
})
afterEach(() => vi.useRealTimers())

test('the line comes back with the last number that it heard', () => {
  const line = new Line(heard, null, make)
  line.open()
  expect(last().address).toBe('/api/events?beats=1')
  last().send('hello', '7')
  last().send('change', '8', { topic: 'session', id: 'a', session_id: 'a' })
  expect(told.at(-1)?.state).toBe('live')
  expect(changes).toEqual([[8, 7]])
  last().fail(0)
  expect(told.at(-1)).toMatchObject({ state: 'offline', tries: 1 })
  vi.advanceTimersByTime(250)
  expect(peers).toHaveLength(2)
  expect(last().address).toBe('/api/events?after=8&beats=1')
})

test('an answer that is no feed does not end it, and its reason is asked for', () => {
  new Line(heard, 3, make).open()
  for (const wait of [250, 500, 1000, 2000, 4000, 5000, 5000, 5000]) {
    const before = peers.length
    last().fail(2)
    vi.advanceTimersByTime(wait - 1)
    expect(peers).toHaveLength(before)
    vi.advanceTimersByTime(1)
    expect(peers).toHaveLength(before + 1)
  }
  expect(refused).toBe(8)
  expect(told.at(-1)).toMatchObject({ state: 'offline', tries: 8 })
  last().send('hello', '3')
  expect(told.at(-1)?.state).toBe('live')
  last().fail(0)
  expect(told.at(-1)).toMatchObject({ tries: 1 })
})

test('whoever asks does not have to wait, and a line that is up stays', () => {
  const line = new Line(heard, null, make)
  line.open()
  last().send('hello', '1')
  line.open()
  expect(peers).toHaveLength(1)
  last().fail(0)
  line.open()
  expect(peers).toHaveLength(2)
  vi.advanceTimersByTime(10_000)
  expect(peers).toHaveLength(2)
})

test('what was missed is counted while it comes, and a busy server does not keep it from being live', () => {
  new Line(heard, 10, make).open()
  last().send('hello', '10')
  for (let seq = 11; seq <= 422; seq += 1)
    last().send('change', String(seq), { topic: 'x', id: '', session_id: null })
  expect(told.at(-1)).toEqual({ state: 'catching_up', events: 400 })
  for (let moment = 0; moment < 20; moment += 1) {
    last().send('change', String(500 + moment), { topic: 'x', id: '', session_id: null })
    vi.advanceTimersByTime(50)
  }
  expect(told.at(-1)?.state).toBe('live')
})

test('a line on which nothing is heard any more is given up, and tried again', () => {
  const line = new Line(heard, null, make)
  line.open()
  last().send('hello', '7')
  for (let beats = 0; beats < 10; beats += 1) {
    vi.advanceTimersByTime(5000)
    last().send('beat', '7')
    line.look()
  }
  expect(peers).toHaveLength(1)
  vi.advanceTimersByTime(15_001)
  line.look()
  expect(told.at(-1)).toMatchObject({ state: 'offline', tries: 1 })
  expect(peers[0]?.readyState).toBe(2)
  vi.advanceTimersByTime(250)
  expect(peers).toHaveLength(2)
  expect(last().address).toBe('/api/events?after=7&beats=1')
  vi.advanceTimersByTime(15_001) // taken, but never answered
  line.look()
  expect(told.at(-1)).toMatchObject({ state: 'offline', tries: 2 })
})

test('what was counted before the line was given up is not counted on', () => {
  const line = new Line(heard, 10, make)
  line.open()
  last().send('hello', '10')
  for (let seq = 11; seq <= 60; seq += 1)
    last().send('change', String(seq), { topic: 'x', id: '', session_id: null })
  vi.setSystemTime(Date.now() + 20_000) // asleep: no timer ran
  line.look()
  vi.advanceTimersByTime(250)
  const before = vi.getTimerCount()
  last().send('hello', '60')
  expect(vi.getTimerCount()).toBe(before + 1)
  vi.advanceTimersByTime(1000)
  expect(told.at(-1)?.state).toBe('live')
})
