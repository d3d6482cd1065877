// The words that somebody looks for, in the row that was gone to: what hides them opens, and they come into sight.

import { createContext, type RefObject, use, useEffect } from 'react'
import { rangesOf } from './useFoundMarks'

export type Sought = { words: string }

export const SoughtPlace = createContext<Sought | null>(null)

const FRAMES = 60 // in which what was opened, or is long, is drawn piece by piece

export const has = (text: string, words: string): boolean => text.toLowerCase().includes(words.toLowerCase())

/** Open something that hides what is looked for. Whoever closes it afterwards has closed it. */
export function useSought(hides: (words: string) => boolean, open: () => void): void {
  const sought = use(SoughtPlace)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that somebody goes to this row
  useEffect(() => {
    if (sought !== null && hides(sought.words)) open()
  }, [sought])
}

/** Bring the words into sight that are looked for in a row, and tell how far below its top they are. */
export function useInSight(
  row: RefObject<HTMLElement | null>,
  sought: Sought | null,
  tell: (offset: number) => void,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that somebody goes to this row
  useEffect(() => {
    if (sought === null) return
    let left = FRAMES
    const look = (): void => {
      left -= 1
      const range = row.current === null ? undefined : rangesOf(row.current, sought.words, 1)[0]
      if (row.current !== null && range !== undefined) {
        scrollWithin(row.current, range)
        tell(range.getBoundingClientRect().top - row.current.getBoundingClientRect().top)
      }
      if (left > 0) frame = requestAnimationFrame(look)
    }
    let frame = requestAnimationFrame(look)
    return () => cancelAnimationFrame(frame)
  }, [sought])
}

/** Long outputs have a scroll of their own; the page and the pane stay where they are. */
function scrollWithin(row: HTMLElement, range: Range): void {
  const box = range.startContainer.parentElement?.closest<HTMLElement>('.overflow-y-auto')
  if (!box || !row.contains(box)) return
  const [wanted, shown] = [range.getBoundingClientRect(), box.getBoundingClientRect()]
  if (wanted.top < shown.top || wanted.bottom > shown.bottom)
    box.scrollTop += wanted.top - shown.top - box.clientHeight / 2
}
