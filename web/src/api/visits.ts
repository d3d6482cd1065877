// A list that is opened shows what there is now, or a number would lead to another number of rows. Back returns to the
// list as it was left. So each entry of the browser's history has a list of its own, and opening what is open a new one.

import { useQueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useEffect } from 'react'
import { dashboardKeys } from './dashboard'
import { totalsQuery } from './totals'

const JUST_READ = 1000 // ms

/** Names visits: each entry of the history is one, and so is each time that somebody opens the same one again. */
export class Visits {
  readonly #again = new Map<string, number>()
  #last: string | null = null

  nameOf(entry: string): string {
    if (entry === this.#last) this.#again.set(entry, (this.#again.get(entry) ?? 0) + 1)
    this.#last = entry
    return `${entry} ${this.#again.get(entry) ?? 0}`
  }
}

/** The visit of this page, for the key of the list that it shows. What counts the list is read together with it. */
export function useVisit(): string {
  const visit = useRouteContext({ from: '__root__', select: (context) => context.visit })
  const queries = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each visit
  useEffect(() => {
    const isOld = ({ state }: { state: { dataUpdatedAt: number } }): boolean =>
      state.dataUpdatedAt > 0 && state.dataUpdatedAt < Date.now() - JUST_READ
    for (const queryKey of [[...dashboardKeys.all, 'stats'], totalsQuery.queryKey])
      void queries.refetchQueries({ queryKey, predicate: isOld }, { cancelRefetch: false })
  }, [queries, visit])
  return visit
}
