// Lengths and moments as people read them: 8s, 3m 12s, 47m, 9h 14m, 2d; 14:52.

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY

// Moments are large numbers: between two of them a whole second may be less by a hair.
const HAIR = 1e-3

/**
 * A length of time. Below ten minutes the seconds matter, below two days the minutes do. It is rounded down, as the
 * server does it: nothing is shown as over before it is.
 */
export function formatDuration(seconds: number): string {
  const whole = wholeSeconds(seconds)
  if (whole < MINUTE) return `${whole}s`
  if (whole < 10 * MINUTE) return join(whole, MINUTE, 'm', 1, 's')
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m`
  if (whole < 2 * DAY) return join(whole, HOUR, 'h', MINUTE, 'm')
  return `${Math.floor(whole / DAY)}d`
}

/** The largest unit alone, for places where space is short. */
export function formatBrief(seconds: number): string {
  return formatDuration(seconds).split(' ')[0] ?? ''
}

/** One unit once there are two of it, as chains say it: 1h 20m, then 2h. */
export function formatRough(seconds: number): string {
  const whole = wholeSeconds(seconds)
  const unit = whole < HOUR ? MINUTE : HOUR
  return whole < 2 * unit ? formatDuration(whole) : formatBrief(whole)
}

const wholeSeconds = (seconds: number): number => Math.max(0, Math.floor(seconds + HAIR))

function join(whole: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const rest = Math.floor((whole % unit) / smaller)
  const main = `${Math.floor(whole / unit)}${name}`
  return rest === 0 ? main : `${main} ${String(rest).padStart(2, '0')}${smallerName}`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const clockWithSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

const LATEST = 8.64e12 // seconds: no date is further from 1970, and one that is none throws when it is written

/** The date of a moment; the nearest one there is, for what lies beyond every calendar. */
export function dateOf(at: number): Date {
  return new Date(Math.min(LATEST, Math.max(-LATEST, at || 0)) * 1000)
}

/** Whether two moments are on one day of this calendar. */
export function isSameDay(one: number, other: number): boolean {
  return dateOf(one).toDateString() === dateOf(other).toDateString()
}

/** A moment: the time of today, day and time within a week, then the day, with its year if that is not this one. */
export function formatMoment(at: number, now: number): string {
  if (isSameDay(at, now)) return formatTime(at)
  return isRecent(at, now) ? `${formatDay(at)} ${formatTime(at)}` : formatDate(at, now)
}

/** From one moment to another, as short as a column needs it: their times where the day is one of the last, else days. */
export function formatBetween(from: number, to: number, now: number): string {
  if (!isSameDay(from, to)) return `${formatDate(from, now)} – ${formatDate(to, now)}`
  return isRecent(from, now) ? `${formatMoment(from, now)} – ${formatTime(to)}` : formatDate(from, now)
}

const isRecent = (at: number, now: number): boolean => Math.abs(now - at) < WEEK

/** A moment to the second, with its day unless that is today. */
export function formatExact(at: number, now: number): string {
  return isSameDay(at, now) ? formatClock(at) : `${formatDate(at, now)}, ${formatClock(at)}`
}

/** From when to when: with seconds today, with its day on any other. Without an end it goes on. */
export function formatSpan(from: number, to: number | null, now: number): string {
  const isToday = isSameDay(from, now)
  const begin = isToday ? formatClock(from) : `${formatDate(from, now)}, ${formatTime(from)}`
  if (to === null) return `${begin} – now`
  if (isToday) return `${begin} – ${formatClock(to)}`
  return `${begin} – ${isSameDay(from, to) ? '' : `${formatDay(to)}, `}${formatTime(to)}`
}

/** The day alone, with its year if that is not this one. */
export function formatDate(at: number, now: number): string {
  const [date, today] = [dateOf(at), dateOf(now)]
  return (date.getFullYear() === today.getFullYear() ? day : dayOfYear).format(date)
}

export const formatDay = (at: number): string => day.format(dateOf(at))
/** The time alone, whichever day it was. */
export const formatTime = (at: number): string => clock.format(dateOf(at))
export const formatClock = (at: number): string => clockWithSeconds.format(dateOf(at))
export const formatWhole = (at: number): string => whole.format(dateOf(at))
