// Marks the words that were found, where they are drawn. They are painted over the text, which stays as it is.

import { type RefObject, useEffect } from 'react'

const NAME = 'found'
const MOST = 500

export function useFoundMarks(pane: RefObject<HTMLElement | null>, words: string): void {
  useEffect(() => {
    const highlights = CSS.highlights
    if (highlights === undefined) return
    if (words === '' || pane.current === null) {
      highlights.delete(NAME)
      return
    }
    const element = pane.current
    const mark = (): void => void highlights.set(NAME, new Highlight(...rangesOf(element, words, MOST)))
    let frame = requestAnimationFrame(mark)
    // Markdown and colours of code come a little later, and other rows with every scroll.
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(mark)
    })
    observer.observe(element, { childList: true, characterData: true, subtree: true })
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      highlights.delete(NAME)
    }
  }, [pane, words])
}

/** Where words stand in what is drawn, in any case; the first ones. */
export function rangesOf(element: HTMLElement, words: string, most: number): Range[] {
  const wanted = words.toLowerCase()
  const ranges: Range[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null && ranges.length < most; node = walker.nextNode()) {
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
