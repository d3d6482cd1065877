// Which queries show what has changed, and how often they may be asked again because of it.

import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'

/** What the server tells of a change. The topic `reload` says that anything may have changed. */
export type Change = { topic: string; id: string; session_id: string | null }

const LISTS = 1000 // ms: a list under heavy writing is read again at once, then at most so often
const OWN = 1000 // ms: its transcript hears of each message by itself; all else of a run is heavy to tell
const LOOK_AGAIN = 50 // ms, while an answer is on its way that was asked for before the change

type Mark = { key: QueryKey; every: number }

const lists = (...names: string[]): Mark[] => names.map((name) => ({ key: [name], every: LISTS }))
const own = ({ session_id }: Change): Mark[] =>
  session_id === null ? [] : [{ key: ['run', session_id], every: OWN }]
export const EVERYTHING: Mark = { key: [], every: LISTS }

// What somebody reads before saying yes to it. It must not become another under the eyes, and the server asks again.
const HELD: ReadonlySet<unknown> = new Set(['plan', 'trial'])

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

type Pace = {
  mark: Mark
  last: number
  isDue: boolean
  /** Queries whose answers were on their way at the change, and may be of the time before it. */
  late: Set<Query>
  timer: ReturnType<typeof setTimeout> | undefined
}

const isOnItsWay = (query: Query): boolean => query.state.fetchStatus === 'fetching'
const isMarked = (query: Query): boolean => !HELD.has(query.queryKey[0])

/** Asks queries again, each kind at its own pace: the first time at once, then in steps. */
export class Marker {
  readonly #queries: QueryClient
  readonly #paces = new Map<string, Pace>()

  constructor(queries: QueryClient) {
    this.#queries = queries
  }

  mark(mark: Mark): void {
    const name = JSON.stringify(mark.key)
    let pace = this.#paces.get(name)
    if (pace === undefined) {
      if (this.#find(mark).length === 0) return // whoever begins to look reads what is new anyway
      pace = { mark, last: Number.NEGATIVE_INFINITY, isDue: false, late: new Set(), timer: undefined }
      this.#paces.set(name, pace)
    }
    pace.isDue = true
    if (pace.timer === undefined) this.#go(pace)
  }

  /** Ask for all that is due, now that somebody looks. */
  catchUp(): void {
    for (const pace of this.#paces.values()) if (pace.timer === undefined) this.#go(pace)
  }

  stop(): void {
    for (const pace of this.#paces.values()) clearTimeout(pace.timer)
    this.#paces.clear()
  }

  #find({ key }: Mark): Query[] {
    return this.#queries.getQueryCache().findAll({ queryKey: key, predicate: isMarked })
  }

  #go(pace: Pace): void {
    if (document.hidden) return // a page that nobody sees asks when it is seen
    if (pace.isDue && Date.now() >= pace.last + pace.mark.every) this.#ask(pace)
    else this.#askLate(pace)
    const rest = Math.max(0, pace.last + pace.mark.every - Date.now())
    if (pace.late.size === 0 && !pace.isDue && rest === 0) {
      this.#paces.delete(JSON.stringify(pace.mark.key))
      return
    }
    pace.timer = setTimeout(
      () => {
        pace.timer = undefined
        this.#go(pace)
      },
      pace.late.size === 0 ? rest : Math.min(LOOK_AGAIN, rest || LOOK_AGAIN),
    )
  }

  // An answer on its way may be of the time before the change. Cancelled, it would never come where changes are many;
  // kept, it would pass for the newest. So it is awaited, and then asked for once more: it, and no other.
  #ask(pace: Pace): void {
    const found = this.#find(pace.mark)
    pace.late = new Set(found.filter(isOnItsWay))
    pace.isDue = false
    pace.last = Date.now()
    this.#invalidate(new Set(found.filter((query) => !isOnItsWay(query))))
  }

  #askLate(pace: Pace): void {
    const answered = new Set([...pace.late].filter((query) => !isOnItsWay(query)))
    for (const query of answered) pace.late.delete(query)
    this.#invalidate(answered)
  }

  #invalidate(wanted: ReadonlySet<Query>): void {
    if (wanted.size === 0) return
    const predicate = (query: Query): boolean => wanted.has(query)
    void this.#queries.invalidateQueries({ predicate }, { cancelRefetch: false })
  }
}
