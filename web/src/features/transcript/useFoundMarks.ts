// Marks the words that were found, where they are drawn. They are painted over the text, which stays as it is.

import { type RefObject, useEffect } from 'react'

const NAME = 'found'
const MOST = 500

export function useFoundMarks(pane: RefObject<HTMLElement | null>, words: string, asOf: unknown): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asOf` says that other rows are drawn
  useEffect(() => {
    const highlights = CSS.highlights
    if (highlights === undefined) return
    if (words === '' || pane.current === null) {
      highlights.delete(NAME)
      return
    }
    const frame = requestAnimationFrame(() => {
      if (pane.current !== null) highlights.set(NAME, new Highlight(...rangesOf(pane.current, words)))
    })
    return () => {
      cancelAnimationFrame(frame)
      highlights.delete(NAME)
    }
  }, [pane, words, asOf])
}

function rangesOf(element: HTMLElement, words: string): Range[] {
  const wanted = words.toLowerCase()
  const ranges: Range[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null && ranges.length < MOST; node = walker.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? ''
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      if (at + wanted.length > (node.textContent?.length ?? 0)) break // letters that change their length with their case
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + wanted.length)
      ranges.push(range)
    }
  }
  return ranges
}
