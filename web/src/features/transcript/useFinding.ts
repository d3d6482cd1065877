// Finding in a transcript: the server knows all of it, the page only what is read.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type History, type MessageShare, positionsQuery } from '@/api/messages'
import type { RunInFull } from '@/api/runs'
import { isTime, momentQuery } from './moments'

const TYPING = 200 // ms without a letter, before anything is asked
const SEARCH_EVERY = 1500 // ms: a long history is not searched for each message that comes

const NONE: readonly number[] = []

/** A text, once nobody has changed it for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text === '' ? 0 : TYPING)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** A number that changes often, at once and then in steps. */
function usePaced(value: number): number {
  const [paced, setPaced] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    if (value === paced) return
    const wait = Math.max(0, last.current + SEARCH_EVERY - Date.now())
    const timer = setTimeout(() => {
      last.current = Date.now()
      setPaced(value)
    }, wait)
    return () => clearTimeout(timer)
  }, [value, paced])
  return paced
}

export type Finding = {
  share: MessageShare | null
  setShare: (share: MessageShare | null) => void
  words: string
  setWords: (words: string) => void
  /** What is shown of the history; null for all of it. */
  positions: readonly number[] | null
  /** What that is, is not known yet. */
  isLooking: boolean
  /** There may be more than the server tells at once. */
  areAllPositions: boolean
  errors: readonly number[]
  /** Where errors are, is known. */
  areErrorsKnown: boolean
  matches: readonly number[]
  areAllMatches: boolean
  /** The words that the matches are for. */
  found: string
  /** They are a time of day, and the match is what was said first since. */
  isMoment: boolean
  error: Error | null
}

export function useFinding(run: RunInFull, branchId: string | null, history: History): Finding {
  const [share, setShare] = useState<MessageShare | null>(null)
  const [words, setWords] = useState('')
  const search = useSettled(words.trim())
  const paced = usePaced(history.length)
  const failures = run.tool_error_count
  const errors = useQuery({
    ...positionsQuery(run.id, branchId, { share: 'errors', search: null }, failures),
    enabled: failures > 0 && history.size > 0, // a long history takes long to search, and is read first
  })
  const isPart = share !== null && share !== 'errors'
  const part = useQuery({
    ...positionsQuery(run.id, branchId, { share, search: null }, paced),
    enabled: isPart,
  })
  const matching = useQuery({
    ...positionsQuery(run.id, branchId, { share, search }, paced),
    enabled: search !== '',
  })
  // A time that somebody wrote is found as words are; else it is a place in the transcript.
  const isMoment = share === null && isTime(search) && matching.data?.positions.length === 0
  const moment = useQuery({ ...momentQuery(run.id, branchId, search, paced), enabled: isMoment })
  const reached = useMemo(() => (moment.data ? [moment.data] : NONE), [moment.data])
  const failed = errors.data?.positions ?? NONE
  const areErrorsKnown = failures === 0 || errors.data !== undefined
  const asked = part.data?.positions ?? NONE
  const positions = share === null ? null : share === 'errors' ? failed : asked
  const matches = search === '' ? NONE : isMoment ? reached : (matching.data?.positions ?? NONE)
  const areAllMatches = matching.data?.is_all ?? true
  const found = matching.data === undefined || (isMoment && moment.isPending) ? '' : search
  const shown = share === 'errors' ? errors : part
  const isLooking = share !== null && shown.isLoading
  const areAllPositions = share === null || (shown.data?.is_all ?? true)
  const error = errors.error ?? part.error ?? matching.error ?? moment.error
  return useMemo(
    () => ({
      share,
      setShare,
      words,
      setWords,
      positions,
      isLooking,
      areAllPositions,
      errors: failed,
      areErrorsKnown,
      matches,
      areAllMatches,
      found,
      isMoment,
      error,
    }),
    [
      share,
      words,
      positions,
      isLooking,
      areAllPositions,
      failed,
      areErrorsKnown,
      matches,
      areAllMatches,
      found,
      isMoment,
      error,
    ],
  )
}

/** The next of some positions, round and round. */
export function nextOf(positions: readonly number[], from: number, direction: 1 | -1): number | undefined {
  if (direction === 1) return positions.find((one) => one > from) ?? positions[0]
  return positions.findLast((one) => one < from) ?? positions.at(-1)
}
