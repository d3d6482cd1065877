// Light or dark: what was chosen, else what the system prefers. public/theme.js sets it before anything is drawn.

import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark'

const KEY = 'theme'
const listeners = new Set<() => void>()

const current = (): Theme => (document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light')

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  for (const tell of listeners) tell()
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  show(theme)
}

export const switchTheme = (): void => setTheme(current() === 'dark' ? 'light' : 'dark')

/** Follow what is chosen in other tabs and, as long as nothing was, what the system does. */
export function followTheme(): void {
  addEventListener('storage', (event) => {
    if (event.key === KEY && (event.newValue === 'dark' || event.newValue === 'light')) show(event.newValue)
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
    if (localStorage.getItem(KEY) === null) show(event.matches ? 'dark' : 'light')
  })
}

export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, current)
  return [theme, switchTheme]
}
