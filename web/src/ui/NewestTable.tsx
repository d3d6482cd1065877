import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { useNewest } from '@/lib/newest'
import { useRowKeys } from '@/lib/rowKeys'
import { ListFoot } from './ListFoot'
import { Panel } from './Panel'
import { Skeleton } from './states'

type Props<Row> = {
  /** What the rows are, in the plural, and one of them. */
  label: string
  noun: string
  list: UseInfiniteQueryResult<InfiniteData<{ items: Row[] }>>
  idOf: (row: Row) => string
  /** The grid of the head and of each row. */
  columns: string
  heads: readonly { word: string; className?: string }[]
  row: (row: Row) => ReactNode
  /** Instead of rows: why there is none, and what went wrong. */
  empty: ReactNode
  trouble: (error: Error) => ReactNode
}

/** A table of the newest first: new rows wait below it until they are asked for. */
export function NewestTable<Row>({
  label,
  noun,
  list,
  idOf,
  columns,
  heads,
  row,
  empty,
  trouble,
}: Props<Row>) {
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const { shown, waiting, refresh } = useNewest(rows, idOf)
  const place = useRowKeys<HTMLDivElement>()
  return (
    <Panel className="overflow-hidden">
      {list.isPending ? <Skeleton rows={6} /> : null}
      {list.error && list.data === undefined ? trouble(list.error) : null}
      {list.data && shown.length === 0 ? empty : null}
      {shown.length > 0 ? (
        <>
          <div ref={place} role="table" aria-label={label}>
            <div
              role="row"
              className={`${columns} h-8 border-b border-line bg-sunken px-4 text-12 medium text-text-3`}
            >
              {heads.map(({ word, className }) => (
                <span key={word} role="columnheader" className={className}>
                  {word}
                </span>
              ))}
            </div>
            {shown.map((one) => (
              <Fragment key={idOf(one)}>{row(one)}</Fragment>
            ))}
          </div>
          <ListFoot list={list} count={shown.length} noun={noun} waiting={waiting} onRefresh={refresh} />
        </>
      ) : null}
    </Panel>
  )
}
