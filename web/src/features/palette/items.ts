import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { StudioError } from '@/api/client'
import { runsFoundQuery, showNamesQuery, teamNamesQuery } from '@/api/palette'
import type { Run } from '@/api/runs'
import { PAGES, VIEWS } from '@/features/shell/navigation'
import { countOf, shortId } from '@/lib/numbers'
import type { IconName } from '@/ui/Icon'
import { lookOf } from '@/vocabulary/looks'
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
const AT_MOST = 6 // of each kind that is looked through here

export function useFound(text: string, acts: ShellActs): Found {
  const wanted = useRested(text.trim(), TYPING)
  const words = wordsOf(text)
  const canSearch = wanted === '' || wordsOf(wanted).length > 0
  const runs = useQuery({ ...runsFoundQuery(wanted), enabled: canSearch })
  const shows = useQuery(showNamesQuery)
  const teams = useQuery(teamNamesQuery)

  const isNothing = text.trim() !== '' && words.length === 0
  const named = (items: readonly Item[]) =>
    isNothing ? [] : items.filter((item) => isMatch(item.label, words)).slice(0, AT_MOST)
  const showItems: Item[] = (shows.data?.items ?? []).map((show) => ({
    id: `show ${show.topic}`,
    icon: 'shows',
    label: show.topic,
    hint: progressOf(show.plays_by_status, show.play_count),
    href: `/shows/${encodeURIComponent(show.topic)}`,
  }))
  const teamItems: Item[] = (teams.data?.items ?? []).map((team) => ({
    id: `team ${team.id}`,
    icon: 'teams',
    label: team.name,
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
  const groups: Group[] = [
    {
      name: isAsked ? 'Runs' : 'Latest runs',
      items: isNothing || !canSearch ? [] : (runs.data?.items ?? []).map(runItem),
    },
    { name: 'Shows and teams', items: isAsked ? [...named(showItems), ...named(teamItems)] : [] },
    { name: 'Pages', items: named(pageItems) },
    { name: 'Actions', items: named(actionItems) },
  ]
  const error = canSearch ? (runs.error ?? shows.error ?? teams.error) : null
  return {
    groups: groups.filter((group) => group.items.length > 0),
    words,
    isSettled: wanted === text.trim() && !runs.isPlaceholderData && (!canSearch || !runs.isPending),
    error: error instanceof StudioError && error.status === 422 ? null : error,
    retry: () => void Promise.all([runs.refetch(), shows.refetch(), teams.refetch()]),
  }
}

function runItem(run: Run): Item {
  const look = lookOf(run.state)
  return {
    id: `run ${run.id}`,
    icon: look.icon,
    tone: look.tone,
    label: run.display_name,
    detail: shortId(run.id),
    hint: run.provenance.show ?? run.provenance.playbook ?? run.provenance.agent ?? '',
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
