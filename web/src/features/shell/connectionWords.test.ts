import { expect, test } from 'vitest'
import { connectionWords } from './connectionWords'

const NOW = new Date('2026-05-04T14:52:00').getTime() / 1000

test.each([
  [{ state: 'live', at: 0 }, 'success', 'Live'],
  [{ state: 'connecting', tries: 0 }, 'neutral', 'Connecting'],
  [{ state: 'catching_up', events: 1412 }, 'info', 'Catching up, 1,412 events'],
  [{ state: 'offline', tries: 3, since: (NOW - 4) * 1000 }, 'warning', 'Reconnecting, try 3'],
  [{ state: 'offline', tries: 30, since: (NOW - 120) * 1000 }, 'danger', 'Offline 2m, showing 14:50'],
] as const)('the line in words: %o', (connection, tone, words) => {
  expect(connectionWords(connection, NOW)).toEqual({ tone, words })
})
