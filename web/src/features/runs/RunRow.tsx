import type { ReactTable, Row } from '@tanstack/react-table'
import { type MouseEvent, memo, useEffect, useRef } from 'react'
import type { features, RunRowView } from './columns'

export const ROW = 44 // px
const TINT = 220 // ms

type Props = {
  table: ReactTable<typeof features, RunRowView>
  row: Row<typeof features, RunRowView>
  index: number
  top: number
  isCursor: boolean
  /** Grows with each step of the cursor, so that the row it comes to takes the focus. */
  moves: number
  onPoint: () => void
}

/** One run: two lines, 44 px, always in the place where it was first shown. */
export const RunRow = memo(function RunRow({ table, row, index, top, isCursor, moves, onPoint }: Props) {
  const { run, isSelected, hasLeft } = row.original
  const element = useRef<HTMLDivElement>(null)
  useTint(element, run)
  useEffect(() => {
    if (isCursor && moves > 0) element.current?.focus({ preventScroll: true })
  }, [isCursor, moves])
  const back = isSelected ? 'bg-selected' : 'hover:bg-hover'
  const bar = isCursor ? 'shadow-[inset_2px_0_0_var(--accent)]!' : 'focus-visible:shadow-none!'
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: J, K and the arrows move the cursor, Enter opens the run
    <div
      ref={element}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      data-run={run.id}
      data-cursor={isCursor || undefined}
      data-left={hasLeft || undefined}
      className={`absolute inset-x-0 grid cursor-pointer grid-cols-(--columns) items-center gap-x-3 wide:gap-x-4 rounded-none! border-b border-line px-3 wide:px-4 outline-none ${back} ${bar} ${hasLeft ? 'text-text-3 grayscale' : ''}`}
      style={{ height: ROW, transform: `translateY(${top}px)` }}
      onClick={(event) => {
        onPoint()
        if (meansRow(event)) follow(event)
      }}
    >
      {row.getVisibleCells().map((cell) => (
        <div
          key={cell.id}
          role="cell"
          className={`flex min-w-0 items-center ${cell.column.columnDef.meta?.right ? 'justify-end' : ''}`}
        >
          <table.FlexRender cell={cell} />
        </div>
      ))}
    </div>
  )
}, isSame)

/** Not what is pressed in it, nor what opened above it, nor the end of marking a text. */
function meansRow({ target, currentTarget, shiftKey }: MouseEvent): boolean {
  if (!(target instanceof Element) || !currentTarget.contains(target) || shiftKey) return false
  return (
    target.closest('a, button, input, label, [role=checkbox]') === null &&
    getSelection()?.isCollapsed !== false
  )
}

/** As if its name had been pressed, with the same keys, so that a window of its own opens as usual. */
function follow({ currentTarget, ctrlKey, metaKey }: MouseEvent): void {
  const pressed = new window.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey })
  currentTarget.querySelector('a')?.dispatchEvent(pressed)
}

// The table makes its rows anew for each window of them; what they show decides.
function isSame(before: Props, after: Props): boolean {
  const [one, other] = [before.row.original, after.row.original]
  return (
    one.run === other.run &&
    one.isSelected === other.isSelected &&
    one.hasLeft === other.hasLeft &&
    one.isEvidenceOpen === other.isEvidenceOpen &&
    before.table === after.table &&
    before.index === after.index &&
    before.top === after.top &&
    before.isCursor === after.isCursor &&
    before.moves === after.moves &&
    columnsOf(before) === columnsOf(after)
  )
}

const columnsOf = ({ row }: Props): string =>
  row
    .getVisibleCells()
    .map((cell) => cell.column.id)
    .join()

/** A row that changed in place is tinted for a moment, so that the eye finds it. */
function useTint(element: { current: HTMLElement | null }, shown: unknown): void {
  const before = useRef(shown)
  useEffect(() => {
    if (before.current === shown) return
    before.current = shown
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    element.current?.animate([{ backgroundColor: 'var(--selected)' }, {}], {
      duration: TINT,
      easing: 'ease-out',
    })
  }, [element, shown])
}
