// Single keys that do something, and rest while somebody types.

import { useEffect } from 'react'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Call the action of a key. `Ctrl+k` works everywhere, a letter alone only where nobody types. */
export function useKeys(actions: Record<string, (event: KeyboardEvent) => void>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const command = event.ctrlKey || event.metaKey
      if (event.altKey || (!command && isTyping(event.target))) return
      const name = `${command ? 'Ctrl+' : ''}${event.shiftKey && event.key.length > 1 ? 'Shift+' : ''}${event.key}`
      const action = actions[name]
      if (action === undefined) return
      event.preventDefault()
      action(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [actions])
}
