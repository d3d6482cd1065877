// What a reader opened and closed. Rows come and go while one scrolls, so it is kept outside of them.

import { createContext, use, useReducer } from 'react'

export const Folds = createContext(new Map<string, boolean>())

/** Whether a thing is open, and how to change that. */
export function useFold(key: string, isOpenAtFirst = false): [boolean, () => void] {
  const folds = use(Folds)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const isOpen = folds.get(key) ?? isOpenAtFirst
  return [
    isOpen,
    () => {
      folds.set(key, !isOpen)
      redraw()
    },
  ]
}
