// What a reader opened and closed. Rows come and go while one scrolls, so it is kept outside of them.

import { createContext, use, useReducer } from 'react'
import { useSought } from './sought'

export const Folds = createContext(new Map<string, boolean>())

const nothing = (): boolean => false

/** Whether a thing is open, and how to change that. It opens for words that are looked for, if it hides them. */
export function useFold(
  key: string,
  isOpenAtFirst = false,
  hides: (words: string) => boolean = nothing,
): [boolean, () => void] {
  const folds = use(Folds)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const isOpen = folds.get(key) ?? isOpenAtFirst
  const toggle = (): void => {
    folds.set(key, !isOpen)
    redraw()
  }
  useSought((words) => !isOpen && hides(words), toggle)
  return [isOpen, toggle]
}
