// Who wrote when, as lanes. Pure: the same messages at the same time always give the same picture.

import type { Member, TeamMessage } from '@/api/teams'
import { formatDate, formatTime, isSameDay } from '@/lib/time'

export type TickKind = 'one' | 'all' | 'escalation'
export type Tick = { id: string; kind: TickKind; at: number; place: number; to: string }
export type Lane = { name: string; sent: number; ticks: Tick[] }
export type Lanes = { from: number; until: number; isNow: boolean; lanes: Lane[]; marks: Mark[] }
export type Mark = { place: number; text: string }

const HOUR = 3600
const DAY = 24 * HOUR
const MARKS = 4
const SHORTEST = 60 // seconds: one message alone still has a span

/** Whether somebody called for a person: the message says so, or a notice of the system does. */
export function isEscalation({ node_metadata, sender, summary, content }: TeamMessage): boolean {
  if (node_metadata?.kind === 'escalation') return true
  const text = summary ?? content ?? ''
  return /^\W*escalat(ion|ed)\b/i.test(text) || (sender === 'system' && /\bescalated\b/i.test(text))
}

const kindOf = (message: TeamMessage): TickKind =>
  isEscalation(message) ? 'escalation' : message.recipient === 'all' ? 'all' : 'one'

/** Where the lanes end: now while people still write, else shortly after their last message. */
export function spanOf(messages: readonly TeamMessage[], now: number): [from: number, until: number] {
  const times = messages.map((message) => message.created_at)
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const length = Math.max(last - first, SHORTEST)
  const isQuiet = now - last > Math.max(length, HOUR)
  return [first - length * 0.02, isQuiet ? last + length * 0.02 : Math.max(now, last)]
}

/** A lane for each member, and for everyone else who wrote; ticks where they did. */
export function lanesOf(messages: readonly TeamMessage[], members: readonly Member[], now: number): Lanes {
  const [from, until] = messages.length === 0 ? [now - HOUR, now] : spanOf(messages, now)
  const place = (at: number) => Math.min(1, Math.max(0, (at - from) / (until - from)))
  const lanes = members
    .filter((member) => member.is_member || member.sent > 0)
    .map((member) => ({
      name: member.name,
      sent: member.sent,
      ticks: messages
        .filter((message) => message.sender === member.name)
        .map((message) => ({
          id: message.id,
          kind: kindOf(message),
          at: message.created_at,
          place: place(message.created_at),
          to: message.recipient,
        })),
    }))
  const isNow = until === now
  const times = Array.from({ length: MARKS + 1 }, (_, index) => from + ((until - from) * index) / MARKS)
  const marks = times.map((at, index) => ({
    place: index / MARKS,
    text: isNow && index === MARKS ? 'now' : markOf(at, times[index - 1] ?? now, now, until - from),
  }))
  return { from, until, isNow, lanes, marks }
}

/** The time at a mark, with its day where that is a new one; of lanes that are days long the day is enough. */
function markOf(at: number, before: number, now: number, length: number): string {
  if (length > MARKS * DAY) return formatDate(at, now)
  return isSameDay(at, before) ? formatTime(at) : `${formatDate(at, now)} ${formatTime(at)}`
}
