// The loaded part of a list while runs change: rows keep their places, whatever becomes of them.

import type { InfiniteData } from '@tanstack/react-query'
import { type Place, placeOf, type RunPage, type RunSearch } from '@/api/runList'
import type { Run } from '@/api/runs'

export type Listed = InfiniteData<RunPage>

/** Every loaded row once: who pages while runs end may be given one twice. */
export function rowsOf(listed: Listed | undefined): Run[] {
  const seen = new Set<string>()
  const rows: Run[] = []
  for (const page of listed?.pages ?? []) {
    for (const run of page.items) {
      if (seen.has(run.id)) continue
      seen.add(run.id)
      rows.push(run)
    }
  }
  return rows
}

/** The same list with these rows as they are now. Pages without any of them stay what they are, and so cost nothing. */
export function replaceRows(listed: Listed, rows: readonly Run[]): Listed {
  const fresh = new Map(rows.map((run) => [run.id, run]))
  const pages = listed.pages.map((page) =>
    page.items.some((run) => fresh.has(run.id))
      ? { ...page, items: page.items.map((run) => fresh.get(run.id) ?? run) }
      : page,
  )
  return { ...listed, pages }
}

/** Runs of a fresh first page that belong among the loaded rows and are not there. The rest is only not loaded yet. */
export function findNew(listed: Listed, first: RunPage, sort: RunSearch['sort']): Run[] {
  const known = new Set(listed.pages.flatMap((page) => page.items.map((run) => run.id)))
  const last = listed.pages.at(-1)
  const end = last === undefined || last.next === null ? null : last.end
  return first.items.filter(
    (run) => !known.has(run.id) && (end === null || isBefore(placeOf(run, sort), end)),
  )
}

export function isBefore(one: Place, other: Place): boolean {
  for (const [part, value] of one.entries()) {
    const against = other[part]
    if (against !== undefined && value !== against) return value > against
  }
  return false
}
