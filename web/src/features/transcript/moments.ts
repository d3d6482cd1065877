// Finding a time of day in a transcript: messages stand in the order of their times, so a few looks are enough.

import { queryOptions } from '@tanstack/react-query'
import { answerOf, GET } from '@/api/client'
import { isSameQuestion } from '@/api/messages'
import { dateOf } from '@/lib/time'

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/
const MINUTE = 60_000

/** The first moment at which a clock showed these words, once something had begun; null if they are no time. */
export function momentOf(words: string, begun: number): number | null {
  const [, hours, minutes, seconds] = TIME.exec(words) ?? []
  if (hours === undefined || minutes === undefined) return null
  const date = dateOf(begun)
  date.setHours(Number(hours), Number(minutes), Number(seconds ?? 0), 0)
  // What began within the minute that is asked for is meant, too.
  if (date.getTime() + (seconds === undefined ? MINUTE : 1000) <= begun * 1000)
    date.setDate(date.getDate() + 1)
  return date.getTime() / 1000
}

export const isTime = (words: string): boolean => TIME.test(words)

/** The first position whose time is not before a moment; null if all are. */
export async function firstSince(
  moment: number,
  length: number,
  timeAt: (position: number) => Promise<number>,
): Promise<number | null> {
  let [low, high] = [1, length + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await timeAt(middle)) < moment) low = middle + 1
    else high = middle
  }
  return low > length ? null : low
}

/** Where in a branch, or in all of them, a time of day was reached. */
export const momentQuery = (id: string, branchId: string | null, words: string, length: number) =>
  queryOptions({
    queryKey: ['moment', id, branchId, words, length],
    queryFn: async ({ signal }) => {
      const timeAt = async (position: number): Promise<number> => {
        const query = { after: position - 1, limit: 1, ...(branchId === null ? {} : { branch: branchId }) }
        const page = await answerOf(
          GET('/api/sessions/{session_id}/messages', { params: { path: { session_id: id }, query }, signal }),
        )
        return page.items[0]?.created_at ?? Number.POSITIVE_INFINITY
      }
      if (length === 0) return null
      const moment = momentOf(words, await timeAt(1))
      return moment === null ? null : await firstSince(moment, length, timeAt)
    },
    placeholderData: (before, asked) =>
      isSameQuestion(asked?.queryKey, id, branchId, words) ? before : undefined,
  })
