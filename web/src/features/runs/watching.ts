// Keeps a list of runs up to date without reading it again. Rows on the screen that changed are asked for, all in one
// question; the others when they come into sight. A look at the first page counts what is new.

import type { QueryClient } from '@tanstack/react-query'
import { StudioError } from '@/api/client'
import type { Change } from '@/api/live'
import { ROWS_AT_ONCE, type RunPage, type RunSearch, readRunPage, readRuns, runListKey } from '@/api/runList'
import type { Run } from '@/api/runs'
import { findNew, type Listed, replaceRows, rowsOf } from './listing'

const SETTLES_IN = 100 // ms: what is written together is looked at together
const LOOKS_APART = 1000 // ms
const MANY = 2_000 // runs that changed: those that are in no loaded page need not be remembered

export type News = {
  /** How many runs wait to be let in. */
  count: number
  /** Whether there may be more of them than a page holds. */
  isMore: boolean
  /** Rows that no longer belong to the list. They stay until somebody asks for the list as it is. */
  left: ReadonlySet<string>
}

export const NO_NEWS: News = { count: 0, isMore: false, left: new Set() }

/** What is asked of the server: the first page of a list, and some of its rows. */
export type Reads = {
  page: (search: RunSearch) => Promise<RunPage>
  rows: (search: RunSearch, ids: readonly string[]) => Promise<Run[]>
}
const SERVER: Reads = { page: (search) => readRunPage(search), rows: readRuns }

const ROW_TOPICS = new Set(['session', 'message', 'branch', 'play'])

export class ListWatch {
  readonly #queries: QueryClient
  readonly #search: RunSearch
  readonly #key: ReturnType<typeof runListKey>
  readonly #tell: (news: News) => void
  readonly #reads: Reads
  readonly #due = new Set<string>() // runs that changed since they were read
  #mostDue = MANY
  #isAllDue = false
  #isFirstDue = false
  #onScreen: readonly string[] = []
  #first: RunPage | null = null
  #left: ReadonlySet<string> = new Set()
  #timer: ReturnType<typeof setTimeout> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #isLooking = false
  #isAsked = false
  #isTaking = false
  #takes = 0
  #isStopped = false

  constructor(
    queries: QueryClient,
    search: RunSearch,
    visit: string,
    tell: (news: News) => void,
    reads: Reads = SERVER,
  ) {
    this.#queries = queries
    this.#search = search
    this.#key = runListKey(search, visit)
    this.#tell = tell
    this.#reads = reads
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  /** Everything may have changed: nobody watched for a while. */
  doubtAll(): void {
    this.#isAllDue = true
    this.#isFirstDue = true
    this.ask()
  }

  /** How many runs are to be read again when they come into sight. */
  get doubted(): number {
    return this.#due.size
  }

  heard(change: Change): void {
    if (change.topic === 'reload') this.doubtAll()
    if (!ROW_TOPICS.has(change.topic)) return
    const id = change.session_id ?? (change.topic === 'session' ? change.id : null)
    if (id !== null) this.#due.add(id)
    if (this.#due.size > this.#mostDue) this.#forgetUnlisted()
    // A message makes no run belong to a list, unless the list is of those that are well, or not, or ask a person.
    const { health, view } = this.#search
    const mayBring = change.topic !== 'message' || health !== undefined || view === 'waiting'
    if (mayBring) this.#isFirstDue = true
    if (mayBring || (id !== null && this.#onScreen.includes(id))) this.ask()
  }

  /** These rows can be seen now. */
  seen(ids: readonly string[]): void {
    this.#onScreen = ids
    if (this.#isAllDue || ids.some((id) => this.#due.has(id))) this.ask()
  }

  /** The list is here: what was heard while it was read can be looked at. */
  loaded(): void {
    if (this.#isAsked) this.ask()
  }

  /** Look soon; once a second at most, and only while somebody sees the page. */
  ask(): void {
    this.#isAsked = true
    const isBusy = this.#timer !== undefined || this.#isLooking || this.#isTaking
    if (isBusy || this.#isStopped || document.hidden) return
    const wait = Math.max(SETTLES_IN, this.#lookedAt + LOOKS_APART - Date.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#look()
    }, wait)
  }

  /** Let in what is new, and let go what has left: the list as it is now. */
  async take(): Promise<void> {
    // Read now: the page that counted what is new may be older than the rows, and an answer on its way is.
    this.#takes += 1
    this.#isTaking = true
    try {
      const page = await this.#reads.page(this.#search)
      // A next page on its way belongs to the list that goes.
      await this.#queries.cancelQueries({ queryKey: this.#key, exact: true })
      if (!this.#isStopped) this.#show(page)
    } finally {
      this.#isTaking = false
      this.ask() // what changed since that page was read
    }
  }

  #show(page: RunPage): void {
    this.#queries.setQueryData<Listed>(this.#key, { pages: [page], pageParams: [null] })
    this.#first = null
    this.#left = new Set()
    this.#isAllDue = false
    this.#tell(NO_NEWS)
  }

  async #look(): Promise<void> {
    const listed = this.#queries.getQueryData<Listed>(this.#key)
    if (this.#isTaking || listed === undefined) return // still being read; whoever has it asks again
    this.#isAsked = false
    this.#isLooking = true
    const wasFirstDue = this.#isFirstDue
    const rows = this.#takeDue()
    this.#isFirstDue = false
    const stayDue = (): void => {
      for (const id of rows) this.#due.add(id)
      this.#isFirstDue ||= wasFirstDue
    }
    try {
      if (!(await this.#read(rows, wasFirstDue))) stayDue()
    } catch (error) {
      stayDue()
      // A server that is away is heard of when it is back; one that had no time is asked again.
      if (error instanceof StudioError && error.status >= 500) this.#isAsked = true
    }
    this.#isLooking = false
    this.#lookedAt = Date.now()
    if (this.#isAsked) this.ask()
  }

  /** What is in no page is read anew with the page that brings it, unless that is on its way already. */
  #forgetUnlisted(): void {
    if (this.#queries.isFetching({ queryKey: this.#key, exact: true }) > 0) return
    const listed = new Set(rowsOf(this.#queries.getQueryData<Listed>(this.#key)).map((run) => run.id))
    for (const id of this.#due) if (!listed.has(id)) this.#due.delete(id)
    this.#mostDue = Math.max(MANY, 2 * this.#due.size)
  }

  #takeDue(): string[] {
    if (this.#isAllDue) {
      // From now on only rows out of sight are in doubt, and each of them is due by its name.
      const listed = this.#queries.getQueryData<Listed>(this.#key)
      for (const page of listed?.pages ?? []) for (const run of page.items) this.#due.add(run.id)
      this.#isAllDue = false
    }
    const rows = this.#onScreen.filter((id) => this.#due.has(id)).slice(0, ROWS_AT_ONCE)
    for (const id of rows) this.#due.delete(id)
    return rows
  }

  /** Whether what was read is shown. */
  async #read(ids: readonly string[], withFirst: boolean): Promise<boolean> {
    const takes = this.#takes
    const [first, rows] = await Promise.all([
      withFirst ? this.#reads.page(this.#search) : null,
      this.#reads.rows(this.#search, ids),
    ])
    const belonging = [...(first?.items ?? []), ...rows]
    const stays = new Set(belonging.map((run) => run.id))
    const leaving = ids.filter((id) => !stays.has(id))
    // They are shown as what they have become, although they belong to another list now.
    const gone = await this.#reads.rows({}, leaving)
    if (this.#isStopped || this.#takes !== takes) return false
    const left = new Set([...this.#left, ...leaving].filter((id) => !stays.has(id)))
    this.#left = left
    this.#first = first ?? this.#first
    this.#queries.setQueryData<Listed>(this.#key, (listed) =>
      listed === undefined ? undefined : replaceRows(listed, [...belonging, ...gone]),
    )
    this.#report()
    // A next page on its way comes with the pages before it as they were when it was asked for.
    const isOverwritten = this.#queries.isFetching({ queryKey: this.#key, exact: true }) > 0
    this.#isAsked ||= isOverwritten
    return !isOverwritten
  }

  #report(): void {
    const listed = this.#queries.getQueryData<Listed>(this.#key)
    const first = this.#first
    const found = listed === undefined || first === null ? [] : findNew(listed, first, this.#search.sort)
    const isMore = first !== null && first.next !== null && found.length === first.items.length
    this.#tell({ count: found.length, isMore, left: this.#left })
  }
}
