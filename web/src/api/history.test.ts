import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Ask, History } from './history'
import type { Message } from './runs'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const idOf = (position: number): string => `m${position}`

function message(position: number, text: string): Message {
  return {
    id: idOf(position),
    position,
    kind: 'assistant',
    role: 'assistant',
    content: text,
    created_at: 1_000 + position,
    sender: null,
    recipient: null,
    channel: null,
    node_metadata: null,
    branch_ids: [],
    lion_class: '',
  }
}

/** A server that has so many messages. It answers with what there was when it was asked, and may take its time. */
class Server {
  texts: string[]
  asked: [after: number, limit: number][] = []
  isAway = false
  takes: (number: number) => number = () => 10

  constructor(length: number) {
    this.texts = Array.from({ length }, (_, at) => `text ${at + 1}`)
  }

  readonly ask: Ask = async (after, limit) => {
    this.asked.push([after, limit])
    const items = this.texts.slice(after, after + limit).map((text, at) => message(after + at + 1, text))
    const isAway = this.isAway
    await new Promise((done) => setTimeout(done, this.takes(this.asked.length)))
    if (isAway) throw new Error('away')
    return { items, next_cursor: after + limit < this.texts.length ? 'more' : null }
  }

  overwrite(position: number, text: string): void {
    this.texts[position - 1] = text
  }
}

async function opened(server: Server): Promise<History> {
  const history = new History(server.ask, server.texts.length)
  history.need([[1, server.texts.length]])
  await vi.advanceTimersByTimeAsync(1000)
  server.asked = []
  return history
}

const rest = () => vi.advanceTimersByTimeAsync(10_000)

test('the newest text stays, whichever answer comes last', async () => {
  const server = new Server(3)
  const history = await opened(server)
  server.takes = (number) => (number === 1 ? 500 : 10)
  server.overwrite(2, 'older')
  history.refresh()
  server.overwrite(2, 'newest')
  history.changed(idOf(2))
  await rest()
  expect(history.at(2)?.content).toBe('newest')
})

test('a message that changes a hundred times a second is read a few times, and its last text is shown', async () => {
  const server = new Server(3)
  const history = await opened(server)
  for (let number = 1; number <= 100; number += 1) {
    server.overwrite(3, `number ${number}`)
    history.changed(idOf(3))
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(server.asked.length).toBeLessThanOrEqual(12)
  await rest()
  expect(history.at(3)?.content).toBe('number 100')
})

test('messages that change at the same time are one question', async () => {
  const server = new Server(60)
  const history = await opened(server)
  for (const position of [1, 7, 3, 5, 58]) history.changed(idOf(position))
  await rest()
  expect(server.asked).toEqual([
    [0, 1],
    [2, 5],
    [57, 1],
  ])
})

test('what could not be read is read when the server is back, and told until then', async () => {
  const server = new Server(300)
  const history = new History(server.ask, 300)
  server.isAway = true
  history.need([[101, 150]])
  await rest()
  expect(history.trouble?.message).toBe('away')
  server.isAway = false
  history.catchUp()
  await rest()
  expect(history.trouble).toBeNull()
  expect(history.at(120)?.content).toBe('text 120')
})

test('trying again reads what is looked at', async () => {
  const server = new Server(300)
  const history = new History(server.ask, 300)
  server.isAway = true
  history.need([[1, 50]])
  await rest()
  server.isAway = false
  history.refresh()
  await rest()
  expect([history.trouble, history.at(1)?.content]).toEqual([null, 'text 1'])
})

test('the end being well does not hide that a window is not', async () => {
  const server = new Server(300)
  const history = new History(server.ask, 300)
  server.isAway = true
  history.need([[1, 50]])
  await rest()
  server.isAway = false
  server.texts.push('text 301')
  history.changed('m301')
  await rest()
  expect(history.at(301)?.content).toBe('text 301')
  expect(history.trouble?.message).toBe('away')
})

test('a change that could not be read is read later', async () => {
  const server = new Server(3)
  const history = await opened(server)
  server.isAway = true
  server.overwrite(2, 'changed')
  history.changed(idOf(2))
  await rest()
  expect(history.trouble?.message).toBe('away')
  server.isAway = false
  history.catchUp()
  await rest()
  expect([history.trouble, history.at(2)?.content]).toEqual([null, 'changed'])
})

test('what is far from where somebody looks is forgotten, and read again', async () => {
  const server = new Server(20_000)
  const history = new History(server.ask, 20_000)
  for (let from = 1; from < 20_000; from += 100) {
    history.need([[from, from + 99]])
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(history.size).toBeLessThanOrEqual(3_000)
  expect(history.at(20_000)?.content).toBe('text 20000')
  expect(history.at(1)).toBeUndefined()
  history.need([[1, 50]])
  await rest()
  expect(history.at(1)?.content).toBe('text 1')
})

test('where somebody looks stays while thousands are said elsewhere', async () => {
  const server = new Server(100)
  const history = await opened(server)
  for (let times = 0; times < 50; times += 1) {
    for (let number = 0; number < 200; number += 1) server.texts.push('more')
    history.grow(server.texts.length)
    await vi.advanceTimersByTimeAsync(500)
  }
  expect(history.length).toBe(10_100)
  expect(history.size).toBeLessThanOrEqual(3_000)
  for (const position of [1, 50, 100]) expect(history.at(position)?.content).toBe(`text ${position}`)
})
