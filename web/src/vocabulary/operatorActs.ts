// The one thing to do about a run, wherever it is listed. The server says what an operator is offered by its health;
// who shows the dialogs is the page's business.

import { createContext, use } from 'react'
import type { Schema } from '@/api/client'

export type Act = 'transition' | 'repair' | 'cleanup'
export type Offer = Act | 'logs'

export const ACT_WORDS: Record<Act, string> = {
  transition: 'Transition…',
  repair: 'Repair…',
  cleanup: 'Clean up…',
}

const OFFERS: Partial<Record<Schema['OperatorAction'], Offer>> = {
  transition: 'transition',
  repair: 'repair',
  cleanup: 'cleanup',
  logs: 'logs',
}

/** The first thing that is offered beside a look (R153); null where a look is all there is to do. */
export function offerOf(actions: readonly Schema['OperatorAction'][]): Offer | null {
  const first = actions.find((action) => action !== 'inspect')
  return (first === undefined ? undefined : OFFERS[first]) ?? null
}

export type AskAct = (act: Act, sessionIds: readonly string[]) => void

export const ActPlace = createContext<AskAct | null>(null)

/** The way to ask for an act; null where a page has none. */
export const useAskAct = (): AskAct | null => use(ActPlace)
