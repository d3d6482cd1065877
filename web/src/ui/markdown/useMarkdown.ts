// The part that draws markdown is heavy: it is fetched once, when somebody may need it.

import { type ComponentType, useSyncExternalStore } from 'react'
import './markdown.css'

type Drawn = ComponentType<{ text: string }>

let drawn: Drawn | null = null
const listeners = new Set<() => void>()

/** Get the part ready that draws markdown. Until then text is shown as it is. */
export function prepareMarkdown(): void {
  if (drawn !== null) return
  import('./Markdown').then(
    (module) => {
      drawn = module.default
      for (const tell of listeners) tell()
    },
    () => undefined, // the studio is away; text stays as it is, and whoever needs it next tries again
  )
}

/** What draws markdown, once it is there. */
export function useMarkdown(): Drawn | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => drawn,
  )
}
