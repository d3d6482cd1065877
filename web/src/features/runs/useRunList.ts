import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useConnection, watchChanges } from '@/api/live'
import { type RunSearch, runListKey, runListQuery } from '@/api/runList'
import { toasts } from '@/ui/toasts'
import { rowsOf } from './listing'
import { ListWatch, type News, NO_NEWS } from './watching'

/** A list of runs that stays where it is while they change. */
export function useRunList(search: RunSearch, visit: string) {
  const queries = useQueryClient()
  const list = useInfiniteQuery(runListQuery(search, visit))
  const [told, setTold] = useState<{ of: string; news: News }>({ of: visit, news: NO_NEWS })
  const watch = useRef<ListWatch | null>(null)
  const onScreen = useRef<readonly string[]>([])
  const isLive = useConnection().state === 'live'

  useEffect(() => {
    const own = new ListWatch(queries, search, visit, (news) => setTold({ of: visit, news }))
    watch.current = own
    own.seen(onScreen.current)
    // A list that one comes back to is shown at once, and nobody has watched it meanwhile.
    if (queries.getQueryData(runListKey(search, visit)) !== undefined) own.doubtAll()
    const unwatch = watchChanges((change) => own.heard(change))
    const onSeen = (): void => own.ask()
    document.addEventListener('visibilitychange', onSeen)
    return () => {
      own.stop()
      unwatch()
      document.removeEventListener('visibilitychange', onSeen)
    }
  }, [queries, search, visit])
  useEffect(() => {
    if (isLive) watch.current?.ask()
  }, [isLive])

  const isHere = list.data !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: each list is here once
  useEffect(() => {
    if (isHere) watch.current?.loaded()
  }, [isHere, visit])

  const rows = useMemo(() => rowsOf(list.data), [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const seen = useCallback((ids: readonly string[]) => {
    onScreen.current = ids
    watch.current?.seen(ids)
  }, [])
  const take = useCallback(async () => {
    try {
      await watch.current?.take()
      scrollTo({ top: 0 })
    } catch (error) {
      toasts.failed('The list could not be read', error instanceof Error ? error.message : '')
    }
  }, [])
  return { list, rows, news: told.of === visit ? told.news : NO_NEWS, loadMore, seen, take }
}

export type RunList = ReturnType<typeof useRunList>
