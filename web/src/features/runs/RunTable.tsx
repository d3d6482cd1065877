import { useTable } from '@tanstack/react-table'
import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Run } from '@/api/runs'
import { Checkbox } from '@/ui/Checkbox'
import { columns, features, type RunRowView } from './columns'
import { ROW, RunRow } from './RunRow'
import type { Columns } from './useColumns'
import type { RowCursor } from './useCursor'
import type { Selection } from './useSelection'

const OVERSCAN = 12 // rows drawn above and below, so that a quick hand sees no gap
const NEAR_END = 40 // rows before the end at which the next page is asked for
const COVERED = 48 + 32 + 8 // px at the top that the bar and the head of the table hide

type Props = {
  runs: readonly Run[]
  left: ReadonlySet<string>
  shown: Columns
  isWide: boolean
  selection: Selection
  cursor: RowCursor
  onSeen: (ids: readonly string[]) => void
  onNear: () => void
}

/** Runs, one to a row. Only what can be seen is drawn, so that tens of thousands stay smooth. */
export function RunTable({ runs, left, shown, isWide, selection, cursor, onSeen, onNear }: Props) {
  const body = useRef<HTMLDivElement>(null)
  const top = useTop(body)
  const virtual = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
    scrollMargin: top,
    scrollPaddingStart: COVERED,
    scrollPaddingEnd: ROW,
    getItemKey: (index) => runs[index]?.id ?? index,
  })
  const items = virtual.getVirtualItems()
  const [from, to] = [items[0]?.index ?? 0, (items.at(-1)?.index ?? -1) + 1]
  const { isEvidenceOf, showEvidence } = cursor
  const data = useMemo(
    () =>
      runs.slice(from, to).map(
        (run): RunRowView => ({
          run,
          isSelected: selection.ids.has(run.id),
          hasLeft: left.has(run.id),
          isEvidenceOpen: isEvidenceOf === run.id,
          onSelect: (isRange) => selection.toggle(run.id, isRange),
          onEvidence: (isOpen) => showEvidence(isOpen ? run.id : null),
        }),
      ),
    [runs, from, to, selection, left, isEvidenceOf, showEvidence],
  )
  const table = useTable(
    { features, columns, data, getRowId: ({ run }) => run.id, state: { columnVisibility: shown } },
    (state) => state,
  )
  useEffect(() => onSeen(data.map(({ run }) => run.id)), [data, onSeen])
  useEffect(() => {
    if (to > runs.length - NEAR_END) onNear()
  }, [to, runs.length, onNear])
  useScrollToCursor(virtual, runs, cursor)

  const widths = table
    .getVisibleLeafColumns()
    .map(({ columnDef: { meta } }) => (isWide ? meta?.width : (meta?.narrow ?? meta?.width)) ?? '1fr')
  const style: CSSProperties & Record<'--columns', string> = { '--columns': widths.join(' ') }
  return (
    <div role="table" aria-label="Runs" aria-rowcount={runs.length + 1} style={style}>
      <div role="rowgroup" className="sticky top-12 z-10">
        <div
          role="row"
          aria-rowindex={1}
          className="grid h-8 grid-cols-(--columns) items-center gap-x-3 wide:gap-x-4 rounded-t-[7px] border-b border-line bg-sunken px-3 wide:px-4 text-12 medium text-text-3"
        >
          {table.getHeaderGroups().map((group) =>
            group.headers.map((header) => (
              <div
                key={header.id}
                role="columnheader"
                className={`flex min-w-0 items-center ${header.column.columnDef.meta?.right ? 'justify-end' : ''}`}
              >
                {header.column.id === 'select' ? (
                  <Checkbox
                    label={`Select all ${runs.length} loaded runs`}
                    checked={
                      selection.ids.size === 0 ? false : selection.ids.size >= runs.length ? true : 'some'
                    }
                    onChange={selection.toggleAll}
                  />
                ) : (
                  <table.FlexRender header={header} />
                )}
              </div>
            )),
          )}
        </div>
      </div>
      <div ref={body} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {table.getRowModel().rows.map((row, place) => (
          <RunRow
            key={row.id}
            table={table}
            row={row}
            index={from + place}
            top={(from + place) * ROW}
            isCursor={row.id === cursor.id}
            moves={row.id === cursor.id ? cursor.moves : 0}
            onPoint={() => cursor.point(row.id)}
          />
        ))}
      </div>
    </div>
  )
}

/** How far down the page something begins. What is above may grow by a line; to ask at each scroll would take long. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = (): void => setTop((element.current?.getBoundingClientRect().top ?? 0) + scrollY)
    measure()
    const page = element.current?.closest('main')
    const observer = new ResizeObserver(measure)
    if (page) observer.observe(page)
    return () => observer.disconnect()
  }, [element])
  return top
}

/** The cursor is kept in sight, below what sticks to the top. */
function useScrollToCursor(
  virtual: Virtualizer<Window, Element>,
  runs: readonly Run[],
  { id, moves }: RowCursor,
): void {
  const newest = useRef({ virtual, runs, id })
  useEffect(() => {
    newest.current = { virtual, runs, id }
  })
  // Only a step of the cursor scrolls; that rows come or change does not.
  useEffect(() => {
    if (moves === 0) return
    const index = newest.current.runs.findIndex((run) => run.id === newest.current.id)
    if (index >= 0) newest.current.virtual.scrollToIndex(index, { align: 'auto' })
  }, [moves])
}
