// Which list explains which number. Each of them has exactly as many rows as the number says.

import { linkOptions } from '@tanstack/react-router'
import type { Concern, Execution, Signal } from '@/api/dashboard'
import type { Run } from '@/api/runs'

type Status = NonNullable<Run['status']>

export const toAttention = (signal?: Signal) =>
  linkOptions({ to: '/attention', search: signal === undefined ? {} : { signal } })

export const toExecutions = linkOptions({ to: '/executions' })
export const toRequestChanges = linkOptions({ to: '/request-changes' })
export const toWorkingPlays = linkOptions({ to: '/plays', search: { status: 'running,redoing' } })

export const toRunning = linkOptions({ to: '/runs', search: { status: 'running' } })
// An ended run is healthy too, so the health alone would list more than what runs.
export const toRunningOf = (health: Run['effective_health']) =>
  linkOptions({ to: '/runs', search: { status: 'running', health } })
export const toEnded = linkOptions({ to: '/runs', search: { view: 'ended_24h' } })
export const toEndedAs = (status: Status) =>
  linkOptions({ to: '/runs', search: { view: 'ended_24h', status } })
export const toOver60m = linkOptions({ to: '/runs', search: { view: 'over_60m' } })
export const toNeedsReview = linkOptions({ to: '/runs', search: { view: 'needs_review' } })
export const toLegacy = linkOptions({ to: '/runs', search: { view: 'legacy' } })
export const toLastEnded = linkOptions({ to: '/runs', search: { sort: 'ended' } })

export const toActiveShows = linkOptions({ to: '/shows', search: { status: 'active' } })
export const toActiveTeams = linkOptions({ to: '/teams', search: { status: 'active' } })
export const toAdmin = linkOptions({ to: '/admin' })

const toRun = (runId: string) => linkOptions({ to: '/runs/$runId', params: { runId } })
export const toLogs = (runId: string) =>
  linkOptions({ to: '/runs/$runId', params: { runId }, hash: 'branches' })
const toShow = (topic: string) => linkOptions({ to: '/shows/$topic', params: { topic } })

/** The page of the thing itself. */
export function toConcern({ subject, id, topic }: Concern) {
  return subject === 'session' || topic === null ? toRun(id) : toShow(topic)
}

export function toExecution({ subject, id, leads_to }: Execution) {
  if (subject === 'session') return toRun(id)
  // A run may name a show that nobody stored; then its runs are all there is to see.
  const isStored = leads_to.startsWith('/api/shows/')
  return isStored ? toShow(id) : linkOptions({ to: '/runs', search: { status: 'running', show: id } })
}

export const toPlay = toShow
