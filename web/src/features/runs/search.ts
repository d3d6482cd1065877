// The filters of the list of runs: how they are read from an address, and what they are called.

import { type RunSearch, SPANS, type Span } from '@/api/runList'
import { textOf } from '@/lib/address'
import { plainLine } from '@/lib/plain'
import { formatWhole } from '@/lib/time'
import {
  HEALTH_WORDS,
  KIND_WORDS,
  SORT_WORDS,
  SOURCE_WORDS,
  STATUS_WORDS,
  VIEW_WORDS,
} from '@/vocabulary/looks'

export const SPAN_WORDS: Record<Span, string> = {
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '12mo': '12 months',
}

/** What a token of the filter bar can hold: a word of a closed list, or a name. */
export type WordField = 'status' | 'health' | 'kind' | 'source' | 'since'
export type NameField = 'agent' | 'playbook' | 'show'
export type Field = WordField | NameField

export const FIELD_LABELS: Record<Field, string> = {
  status: 'Status',
  health: 'Health',
  kind: 'Kind',
  source: 'Source',
  since: 'Since',
  agent: 'Agent',
  playbook: 'Playbook',
  show: 'Show',
}
export const FIELDS: readonly Field[] = [
  'status',
  'health',
  'kind',
  'source',
  'since',
  'agent',
  'playbook',
  'show',
]

const FIELD_WORDS: Record<WordField, Record<string, string>> = {
  status: STATUS_WORDS,
  health: HEALTH_WORDS,
  kind: KIND_WORDS,
  source: SOURCE_WORDS,
  since: SPAN_WORDS,
}

/** The words one can choose from; null where any name will do. */
export const wordsOf = (field: Field): Record<string, string> | null =>
  field in FIELD_WORDS ? FIELD_WORDS[field as WordField] : null

/** A filter in words: Health: stale. */
export type Told = { label: string; value: string }

export function toldOf(search: RunSearch, field: Field): Told | null {
  const value = search[field]
  if (value === undefined) return null
  const word = typeof value === 'number' ? formatWhole(value) : (wordsOf(field)?.[value] ?? plainLine(value))
  return { label: FIELD_LABELS[field], value: field === 'since' ? word : lowerWord(field, word) }
}

/** Everything that narrows the list, in words. The order of a list hides nothing. */
export function toldFilters(search: RunSearch): Told[] {
  return [
    ...(search.view === undefined ? [] : [{ label: 'View', value: VIEW_WORDS[search.view] }]),
    ...FIELDS.map((field) => toldOf(search, field)).filter((told) => told !== null),
    ...(search.search === undefined ? [] : [{ label: 'Words', value: plainLine(search.search) }]),
  ]
}

const lowerWord = (field: Field, word: string): string =>
  field === 'status' || field === 'health' ? word.toLowerCase() : word

const isWord = <Word extends string>(words: Record<Word, unknown>, value: unknown): value is Word =>
  typeof value === 'string' && Object.hasOwn(words, value)

/** The filters of an address. What is not a filter, or not a word that it knows, is left out. */
export function readSearch(raw: Record<string, unknown>): RunSearch {
  const search: RunSearch = {}
  if (isWord(VIEW_WORDS, raw.view)) search.view = raw.view
  if (isWord(STATUS_WORDS, raw.status)) search.status = raw.status
  if (isWord(HEALTH_WORDS, raw.health)) search.health = raw.health
  if (isWord(KIND_WORDS, raw.kind)) search.kind = raw.kind
  if (isWord(SOURCE_WORDS, raw.source)) search.source = raw.source
  if (isWord(SPANS, raw.since)) search.since = raw.since
  else if (typeof raw.since === 'number' && Number.isFinite(raw.since)) search.since = raw.since
  if (isWord(SORT_WORDS, raw.sort) && raw.sort !== 'active') search.sort = raw.sort
  for (const name of ['agent', 'playbook', 'show', 'search'] as const) {
    const text = textOf(raw[name])
    if (text !== undefined) search[name] = text
  }
  return search
}

/** The same filters with one of them changed; without a value it goes. */
export function withFilter(search: RunSearch, name: keyof RunSearch, value: string | undefined): RunSearch {
  return readSearch({ ...search, [name]: value })
}

export const isFiltered = ({ sort: _, ...filters }: RunSearch): boolean => Object.keys(filters).length > 0
