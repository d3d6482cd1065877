import type { ReactNode } from 'react'
import { useSteadyPages } from '@/lib/held'
import { useRowKeys } from '@/lib/rowKeys'
import { ListFoot } from '@/ui/ListFoot'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'

const ROW = 44

/** As much of an infinite query as a list needs. */
export type Paged<Row> = {
  data: { pages: { items: Row[] }[] } | undefined
  isPending: boolean
  error: Error | null
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
  refetch: () => unknown
}

export type Column<Row> = {
  name: string
  /** A width of the grid: 120px, minmax(0,1fr). */
  width: string
  isNumber?: boolean
  /** What the row is called: it stands above the others where they have no room beside each other. */
  isName?: boolean
  /** Left out where the window is narrow. */
  isExtra?: boolean
  draw: (row: Row) => ReactNode
}

type Props<Row> = {
  label: string
  noun: string
  list: Paged<Row>
  columns: readonly Column<Row>[]
  idOf: (row: Row) => string
  empty: ReactNode
}

/**
 * A list that explains a number: one row for each thing that was counted. Rows have buttons, so none of them moves by
 * itself: new ones wait, and those that left stay until somebody asks for the list as it is.
 */
export function ListPanel<Row>({ label, noun, list, columns, idOf, empty }: Props<Row>) {
  const stops = useRowKeys<HTMLTableElement>()
  const { shown, waiting, left, refresh } = useSteadyPages(list.data?.pages, idOf)
  if (list.isPending) {
    return (
      <Framed>
        <Skeleton rows={10} height={ROW} />
      </Framed>
    )
  }
  if (list.error && list.data === undefined) {
    return (
      <Framed>
        <Trouble error={list.error} retry={() => void list.refetch()} />
      </Framed>
    )
  }
  if (shown.length === 0) return <Framed>{empty}</Framed>
  return (
    <Framed>
      <table ref={stops} aria-label={label} className="w-full table-fixed max-[639px]:block">
        <colgroup>
          {columns.map((column) => (
            <col
              key={column.name}
              style={{ width: column.width }}
              className={column.isExtra ? 'max-[999px]:hidden' : ''}
            />
          ))}
        </colgroup>
        <thead className="max-[639px]:sr-only">
          <tr className="border-b border-line bg-sunken text-12 text-text-3">
            {columns.map((column) => (
              <th key={column.name} scope="col" className={`h-8 medium ${cell(column)}`}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="max-[639px]:block">
          {shown.map(({ id, row, isGone }) => (
            <tr
              key={id}
              data-left={isGone || undefined}
              className={`border-b border-line last:border-0 hover:bg-hover max-[639px]:flex max-[639px]:flex-wrap max-[639px]:items-center max-[639px]:gap-x-3 max-[639px]:gap-y-1.5 max-[639px]:px-4 max-[639px]:py-2.5 ${isGone ? 'text-text-3 saturate-0' : ''}`}
            >
              {columns.map((column, place) => (
                <td key={column.name} className={`h-11 max-[639px]:h-auto max-[639px]:p-0! ${cell(column)}`}>
                  {isGone && place === columns.length - 1 ? (
                    <span title="It no longer belongs to this list.">left</span>
                  ) : (
                    column.draw(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <ListFoot
        list={list}
        count={shown.length - left}
        noun={noun}
        waiting={waiting}
        left={left}
        onRefresh={refresh}
      />
    </Framed>
  )
}

function Framed({ children }: { children: ReactNode }) {
  return <Panel className="overflow-hidden">{children}</Panel>
}

function cell<Row>(column: Column<Row>): string {
  const side = column.isNumber ? 'text-right' : 'text-left'
  const place = column.isName ? 'max-[639px]:order-first max-[639px]:w-full' : 'max-[639px]:max-w-full'
  return `px-3 first:pl-4 last:pr-4 last:ml-auto ${side} ${place} ${column.isExtra ? 'max-[999px]:hidden' : ''}`
}
