// Which queries show what has changed, and how often they may be asked again because of it.

import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** What the server tells of a change. The topic `reload` says that anything may have changed. */
export type Change = { topic: string; id: string; session_id: string | null }

const LISTS = 1000 // ms: a list under heavy writing is read again at once, then at most so often
const OWN = 150 // ms: whoever looks at one run wants to see what it says as it says it
const LOOK_AGAIN = 50 // ms, while an answer is on its way that was asked for before the change

type Mark = { key: QueryKey; every: number }

const lists = (...names: string[]): Mark[] => names.map((name) => ({ key: [name], every: LISTS }))
const own = ({ session_id }: Change): Mark[] =>
  session_id === null ? [] : [{ key: ['run', session_id], every: OWN }]
export const EVERYTHING: Mark = { key: [], every: LISTS }

// A query whose key begins so is out of date when the topic changes. Shows, teams and admin show states of runs, too.
const MARKS: Record<string, (change: Change) => Mark[]> = {
  session: (change) => [...own(change), ...lists('runs', 'dashboard', 'totals', 'admin', 'shows', 'teams')],
  branch: (change) => [...own(change), ...lists('runs')],
  message: (change) => [...own(change), ...lists('runs', 'dashboard')],
  show: () => lists('shows', 'dashboard', 'totals', 'runs'),
  play: (change) => [...own(change), ...lists('shows', 'dashboard', 'runs')],
  team: () => lists('teams', 'dashboard', 'totals'),
  team_message: (change) => [...own(change), ...lists('teams', 'dashboard')],
  admin: () => lists('admin', 'dashboard'),
  reload: () => [EVERYTHING],
}

/** What is out of date after a change. A topic that nobody here knows comes from a newer server: then everything is. */
export const marksOf = (change: Change): Mark[] => MARKS[change.topic]?.(change) ?? [EVERYTHING]

export const KNOWN_TOPICS = Object.keys(MARKS)

type Pace = { mark: Mark; last: number; isDue: boolean; timer: ReturnType<typeof setTimeout> | undefined }

/** Asks queries again, each kind at its own pace: the first time at once, then in steps. */
export class Marker {
  readonly #queries: QueryClient
  readonly #paces = new Map<string, Pace>()

  constructor(queries: QueryClient) {
    this.#queries = queries
  }

  mark(mark: Mark): void {
    const name = JSON.stringify(mark.key)
    const known = this.#paces.get(name)
    const pace = known ?? { mark, last: Number.NEGATIVE_INFINITY, isDue: false, timer: undefined }
    if (known === undefined) this.#paces.set(name, pace)
    pace.isDue = true
    if (pace.timer !== undefined || document.hidden) return // a page that nobody sees asks when it is seen
    const wait = pace.last + mark.every - Date.now()
    if (wait <= 0) this.#ask(pace)
    else this.#later(pace, wait)
  }

  /** Ask for all that is due, now that somebody looks. */
  catchUp(): void {
    for (const pace of this.#paces.values()) if (pace.isDue && pace.timer === undefined) this.mark(pace.mark)
  }

  stop(): void {
    for (const pace of this.#paces.values()) clearTimeout(pace.timer)
    this.#paces.clear()
  }

  #later(pace: Pace, wait: number): void {
    pace.timer = setTimeout(() => {
      pace.timer = undefined
      if (pace.isDue && !document.hidden) this.#ask(pace)
      else if (!pace.isDue) this.#paces.delete(JSON.stringify(pace.mark.key))
    }, wait)
  }

  // An answer on its way may be of the time before the change. Cancelled, it would never come where changes are many;
  // kept, it would pass for the newest. So it is awaited, and then asked for again.
  #ask(pace: Pace): void {
    const { key, every } = pace.mark
    const filter = { queryKey: key }
    const isAnswered = (query: { state: { fetchStatus: string } }) => query.state.fetchStatus !== 'fetching'
    const isWaiting = !this.#queries.getQueryCache().findAll(filter).every(isAnswered)
    void this.#queries.invalidateQueries({ ...filter, predicate: isAnswered }, { cancelRefetch: false })
    pace.isDue = isWaiting
    pace.last = Date.now()
    this.#later(pace, isWaiting ? LOOK_AGAIN : every)
  }
}
