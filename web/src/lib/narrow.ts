import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 1000px)')

/** Whether the window is too narrow for everything; the same width as `wide:` in classes. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )
}
