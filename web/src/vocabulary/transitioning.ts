// Asking for a transition from wherever a verdict is shown. Who shows the dialog is the page's business: it gives the
// way to ask, and what knows only words and states needs to know no dialog.

import { createContext, use } from 'react'

export type AskTransition = (sessionIds: readonly string[], onDone?: () => void) => void

export const TransitionPlace = createContext<AskTransition | null>(null)

/** The way to ask for a transition; null where a page has none. */
export const useAskTransition = (): AskTransition | null => use(TransitionPlace)
