import { type RefObject, useEffect } from 'react'

/** While it is alone, nothing beside an element can be reached: it covers the page, and Tab must not go behind it. */
export function useAlone(element: RefObject<HTMLElement | null>, isAlone: boolean): void {
  useEffect(() => {
    if (!isAlone || element.current === null) return
    const silenced: Element[] = []
    for (let one: Element | null = element.current; one !== null; one = one.parentElement) {
      if (one.id === 'root') break // beside the page are dialogs and news, which lie above it
      for (const other of one.parentElement?.children ?? []) {
        if (other === one || other.hasAttribute('inert')) continue
        other.setAttribute('inert', '')
        silenced.push(other)
      }
    }
    return () => {
      for (const one of silenced) one.removeAttribute('inert')
    }
  }, [element, isAlone])
}
