import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { StudioError } from '@/api/client'
import { runsFoundQuery, showNamesQuery, teamNamesQuery } from '@/api/palette'
import type { Run } from '@/api/runs'
import { countOf, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import type { IconName } from '@/ui/Icon'
import { KIND_WORDS, lookOf } from '@/vocabulary/looks'
import { PAGES, VIEWS } from '../navigation'
import { type Action, actionsOf, type ShellActs } from './actions'
import { isMatch, wordsOf } from './match'

/** One line: something to go to, or something to do. */
export type Item = {
  id: string
  icon: IconName
  tone?: string
  label: string
  detail?: string
  hint?: string
} & ({ href: string } | { act: () => void })
export type Group = { name: string; items: Item[] }

export type Found = {
  groups: Group[]
  words: string[]
  /** Everything here is about what is typed now. */
  isSettled: boolean
  error: Error | null
  retry: () => void
}

const TYPING = 90 // ms without a key, after which it is looked for
const AT_MOST = 6 // shows, teams and actions that are listed
const LATEST = 5 // runs, while nothing is typed

export function useFound(text: string, acts: ShellActs): Found {
  const wanted = useRested(text.trim(), TYPING)
  const words = wordsOf(text)
  const canSearch = wanted === '' || wordsOf(wanted).length > 0
  const runs = useQuery({ ...runsFoundQuery(wanted), enabled: canSearch })
  const shows = useQuery(showNamesQuery)
  const teams = useQuery(teamNamesQuery)

  const isNothing = text.trim() !== '' && words.length === 0
  const named = (items: readonly Item[], atMost = AT_MOST) =>
    isNothing ? [] : items.filter((item) => isMatch(item.label, words)).slice(0, atMost)
  const showItems: Item[] = (shows.data?.items ?? []).map((show) => ({
    id: `show ${show.topic}`,
    icon: 'shows',
    label: plainLine(show.topic),
    hint: progressOf(show.plays_by_status, show.play_count),
    href: `/shows/${encodeURIComponent(show.topic)}`,
  }))
  const teamItems: Item[] = (teams.data?.items ?? []).map((team) => ({
    id: `team ${team.id}`,
    icon: 'teams',
    label: plainLine(team.name),
    hint: countOf(team.message_count, 'message'),
    href: `/teams/${encodeURIComponent(team.id)}`,
  }))
  const pageItems: Item[] = [...PAGES, ...VIEWS].map(({ href, label, icon }) => ({
    id: `page ${label}`,
    icon,
    label,
    href,
  }))
  const actionItems: Item[] = actionsOf(acts).map((action: Action) => ({
    ...action,
    id: `action ${action.label}`,
  }))
  const isAsked = words.length > 0
  const isOfNow = wanted === text.trim() && !runs.isPlaceholderData
  // Until the answer is here, what the last one found is shown as far as it fits.
  const fits = (run: Run) =>
    isOfNow || isMatch(`${run.id} ${run.display_name} ${run.provenance.agent}`, words)
  const foundRuns = (runs.data?.items ?? []).filter(fits).map(runItem)
  const groups: Group[] = [
    {
      name: isAsked ? 'Runs' : 'Latest runs',
      items: isNothing || !canSearch ? [] : foundRuns.slice(0, isAsked ? undefined : LATEST),
    },
    { name: 'Shows and teams', items: isAsked ? [...named(showItems), ...named(teamItems)] : [] },
    { name: 'Pages', items: named(pageItems, isAsked ? AT_MOST : PAGES.length) },
    { name: 'Actions', items: named(actionItems) },
  ]
  const error = canSearch ? (runs.error ?? shows.error ?? teams.error) : null
  return {
    groups: groups.filter((group) => group.items.length > 0),
    words,
    isSettled: !shows.isPending && !teams.isPending && (!canSearch || (isOfNow && !runs.isPending)),
    error: error instanceof StudioError && error.status === 422 ? null : error,
    retry: () => void Promise.all([runs.refetch(), shows.refetch(), teams.refetch()]),
  }
}

function runItem(run: Run): Item {
  const look = lookOf(run.state)
  const { kind, agent } = run.provenance
  return {
    id: `run ${run.id}`,
    icon: look.icon,
    tone: look.tone,
    label: plainLine(run.display_name),
    detail: plainLine(shortId(run.id)),
    hint: [kind === null ? null : KIND_WORDS[kind], agent && plainLine(agent)]
      .filter((word) => word !== null)
      .join(' · '),
    href: `/runs/${encodeURIComponent(run.id)}`,
  }
}

const progressOf = (plays: Readonly<Record<string, number>>, total: number): string =>
  total === 0 ? 'no plays yet' : `${plays.merged ?? 0} of ${total} merged`

/** A value, once it has not changed for a while. */
function useRested(value: string, wait: number): string {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), value === '' ? 0 : wait)
    return () => clearTimeout(timer)
  }, [value, wait])
  return rested
}
