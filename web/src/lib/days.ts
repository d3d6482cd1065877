import { dateOf } from './time'

const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
const WITH_YEAR = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' })

/** The day of a moment, as a heading: Today, Thursday 21 May. */
export function dayOf(at: number, now: number): string {
  const [date, today] = [dateOf(at), dateOf(now)]
  if (date.toDateString() === today.toDateString()) return `Today, ${DAY.format(date)}`
  return (date.getFullYear() === today.getFullYear() ? DAY : WITH_YEAR).format(date)
}

/** Rows of one day after the other, in the order they came. */
export function byDay<Row extends { created_at: number }>(
  rows: readonly Row[],
  now: number,
): { day: string; rows: Row[] }[] {
  const days: { day: string; rows: Row[] }[] = []
  for (const row of rows) {
    const day = dayOf(row.created_at, now)
    const last = days.at(-1)
    if (last?.day === day) last.rows.push(row)
    else days.push({ day, rows: [row] })
  }
  return days
}
