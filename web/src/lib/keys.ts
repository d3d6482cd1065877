// Keys that do something, and rest while somebody types. One listener for all of them, and a list for who asks what
// there is.

import { useEffect, useRef, useSyncExternalStore } from 'react'

type Act = (event: KeyboardEvent) => void
/** What a key does; with `does` the help says so. */
export type KeyAction = Act | { does: string; act: Act }
export type KeyActions = Record<string, KeyAction>

export type Binding = { group: string; actions: () => KeyActions }

const SEQUENCE = 2000 // ms in which the second key has to follow the first

const bindings: Binding[] = []
const listeners = new Set<() => void>()
let listed: readonly Binding[] = []
let pending: { first: string; at: number } | null = null

const NOT_TEXT = new Set([
  'button',
  'checkbox',
  'color',
  'file',
  'image',
  'radio',
  'range',
  'reset',
  'submit',
])

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    (target instanceof HTMLInputElement && !NOT_TEXT.has(target.type)) ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement)

// Whatever holds the focus above the page has keys of its own.
const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'
const isInLayer = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest(LAYERS) !== null) ||
  document.querySelector('[aria-modal="true"]') !== null

/** How a key is named: `Ctrl+k`, `Shift+Enter`, `X` for Shift and x. */
export function nameOf(event: KeyboardEvent): string {
  const command = event.ctrlKey || event.metaKey
  const shift = event.shiftKey && (event.key.length > 1 || command)
  return `${command ? 'Ctrl+' : ''}${shift ? 'Shift+' : ''}${event.key}`
}

function find(name: string): Act | undefined {
  // Who came last is nearest to the eye: a page before the frame around it.
  for (const binding of bindings.toReversed()) {
    const action = binding.actions()[name]
    if (action !== undefined) return typeof action === 'function' ? action : action.act
  }
  return undefined
}

const beginsSequence = (name: string): boolean =>
  bindings.some((binding) => Object.keys(binding.actions()).some((known) => known.startsWith(`${name} `)))

function listen(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing || event.key === 'Shift') return
  const { target } = event
  if (isInLayer(target) || (isTyping(target) && !event.ctrlKey && !event.metaKey)) return
  // A button or a link that has the focus is what these two are for.
  if (/^(Enter| )$/.test(event.key) && target instanceof Element && target.closest('a, button, summary'))
    return
  const name = nameOf(event)
  const first = pending !== null && event.timeStamp - pending.at < SEQUENCE ? pending.first : null
  pending = null
  if (first === null && beginsSequence(name)) {
    pending = { first: name, at: event.timeStamp }
    return
  }
  const action = find(first === null ? name : `${first} ${name}`)
  if (action === undefined) return
  event.preventDefault()
  action(event)
}

function bind(binding: Binding): () => void {
  if (bindings.length === 0) addEventListener('keydown', listen)
  bindings.push(binding)
  tellAll()
  return () => {
    bindings.splice(bindings.indexOf(binding), 1)
    if (bindings.length === 0) removeEventListener('keydown', listen)
    tellAll()
  }
}

function tellAll(): void {
  listed = [...bindings]
  for (const tell of listeners) tell()
}

/**
 * Call the action of a key: `x`, `X` with Shift, `Ctrl+k` also where somebody types, `g r` one after the other. They
 * rest while a field or a dialog has the focus. `group` is the heading under which the help lists them.
 */
export function useKeys(actions: KeyActions, group = 'This page'): void {
  const newest = useRef(actions)
  useEffect(() => {
    newest.current = actions
  })
  useEffect(() => bind({ group, actions: () => newest.current }), [group])
}

/** Everything that keys do now, the frame's first. */
export function useBindings(): readonly Binding[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => listed,
  )
}
