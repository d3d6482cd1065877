import { useMemo } from 'react'
import type { RunSearch } from '@/api/runList'
import { countOf, formatCount } from '@/lib/numbers'
import { Button } from '@/ui/Button'
import { Keycap } from '@/ui/Keycap'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { BulkBar } from './BulkBar'
import { ColumnMenu } from './ColumnMenu'
import { ExportMenu } from './ExportMenu'
import { FilterBar } from './FilterBar'
import { NoRuns } from './NoRuns'
import { RunTable } from './RunTable'
import { isFiltered } from './search'
import { useColumns } from './useColumns'
import { useCursor } from './useCursor'
import { type RunList, useRunList } from './useRunList'
import { useSelection } from './useSelection'
import { TABS, tabOf, useTabCounts, ViewTabs } from './ViewTabs'

type Props = {
  search: RunSearch
  visit: string
  onSearch: (search: RunSearch, isTyping?: boolean) => void
}

/** The list of runs: named lists, filters, the table, and what can be done with chosen rows. */
export function RunsView({ search, visit, onSearch }: Props) {
  const found = useRunList(search, visit)
  const { list, rows, news } = found
  const order = useMemo(() => rows.map((run) => run.id), [rows])
  const selection = useSelection(order, search)
  const cursor = useCursor(order, search, selection)
  const columns = useColumns()
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <h1 className="mr-auto text-20 strong">Runs</h1>
        <ExportMenu />
        <ColumnMenu chosen={columns.chosen} onChange={columns.change} isWide={columns.isWide} />
      </div>
      <ViewTabs search={search} />
      <FilterBar search={search} news={news} onChange={onSearch} onTake={() => void found.take()} />
      <Panel>
        {list.isPending ? <Skeleton rows={12} /> : null}
        {list.error !== null && list.data === undefined ? (
          <Trouble error={list.error} retry={() => void list.refetch()} />
        ) : null}
        {list.data !== undefined && rows.length === 0 ? (
          <NoRuns search={search} onClear={() => onSearch({})} />
        ) : null}
        {rows.length > 0 ? (
          <>
            <RunTable
              runs={rows}
              left={news.left}
              shown={columns.shown}
              isWide={columns.isWide}
              selection={selection}
              cursor={cursor}
              onSeen={found.seen}
              onNear={found.loadMore}
            />
            <Foot found={found} search={search} />
          </>
        ) : null}
      </Panel>
      <BulkBar selection={selection} />
    </>
  )
}

function Foot({ found: { list, rows, loadMore }, search }: { found: RunList; search: RunSearch }) {
  const counts = useTabCounts()
  const tab = tabOf(search)
  // The number of a tab is that of its list only while nothing else narrows it.
  const isWhole = Object.keys(search).every((name) => name === 'sort' || name in (TABS[tab]?.search ?? {}))
  const total = isWhole ? counts[tab] : undefined
  const amount = !list.hasNextPage
    ? `${countOf(rows.length, 'run')}${isFiltered(search) ? (rows.length === 1 ? ' matches' : ' match') : ''}`
    : total === undefined || total < rows.length
      ? `Showing the first ${formatCount(rows.length)}`
      : `Showing ${formatCount(rows.length)} of ${formatCount(total)}`
  return (
    <div className="flex min-h-11 items-center gap-2 px-4 text-12 text-text-3">
      <span>{amount}</span>
      <span className="ml-auto hidden items-center gap-1.5 wide:flex" aria-hidden="true">
        <Keycap>J</Keycap> <Keycap>K</Keycap> move
        <span className="ml-2" />
        <Keycap>Enter</Keycap> open
        <span className="ml-2" />
        <Keycap>X</Keycap> select
        <span className="ml-2" />
        <Keycap>E</Keycap> evidence
      </span>
      {list.error !== null ? (
        <span role="alert" className="t-danger text-tone-fg">
          The next runs could not be loaded.
        </span>
      ) : null}
      {/* Scrolling loads more by itself; its place stays when there is none. */}
      <Button
        size="small"
        className={`ml-4 ${list.hasNextPage ? '' : 'invisible'}`}
        disabled={list.isFetchingNextPage}
        onClick={loadMore}
      >
        {list.isFetchingNextPage ? 'Loading' : 'Load more'}
      </Button>
    </div>
  )
}
