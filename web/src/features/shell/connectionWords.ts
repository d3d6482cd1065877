import type { Connection } from '@/api/live'
import { timeOfStudio } from '@/lib/clock'
import { formatCount } from '@/lib/numbers'
import { formatBrief, formatMoment } from '@/lib/time'
import type { Tone } from '@/vocabulary/looks'

export const BANNER_AFTER = 10 // seconds away, after which a banner says what is shown
const OFFLINE_AFTER = 60 // seconds of trying in vain, after which it is more than a hitch

/** How the line is, in words. `now` is in seconds. */
export function connectionWords(connection: Connection, now: number): { tone: Tone; words: string } {
  switch (connection.state) {
    case 'live':
      return { tone: 'success', words: 'Live' }
    case 'connecting':
      return { tone: 'neutral', words: 'Connecting' }
    case 'catching_up':
      return { tone: 'info', words: `Catching up, ${formatCount(connection.events)} events` }
    case 'offline': {
      const since = timeOfStudio(connection.since)
      if (now - since < OFFLINE_AFTER)
        return { tone: 'warning', words: `Reconnecting, try ${connection.tries}` }
      const shown = formatMoment(since, now)
      return { tone: 'danger', words: `Offline ${formatBrief(now - since)}, showing ${shown}` }
    }
  }
}
