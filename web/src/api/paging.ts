// Lists that are read page by page.

import type { QueryClient, QueryKey } from '@tanstack/react-query'

const A_PAGE = 1000 // ms that a list rests for each page that has to be read again

type Asked = { client: QueryClient; queryKey: QueryKey; pageParam: string | null; signal: AbortSignal }

/** How every list of pages goes on. */
export const PAGES = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { next_cursor?: string | null }): string | null => page.next_cursor ?? null,
}

/**
 * Reads a page of a list. News make the whole list be read again, each page after the other; the more of them are
 * loaded, the longer it rests in between, so that whoever loads fifty pages asks no more often than others.
 */
export const inTurn =
  <Page>(read: (asked: Pick<Asked, 'pageParam' | 'signal'>) => Promise<Page>) =>
  async (asked: Asked): Promise<Page> => {
    const { client, queryKey, pageParam, signal } = asked
    const state = client.getQueryState<{ pages: unknown[] }>(queryKey)
    const loaded = state?.data?.pages.length ?? 0
    if (pageParam === null && loaded > 1 && state !== undefined)
      await restUntil(state.dataUpdatedAt + loaded * A_PAGE, signal)
    return read({ pageParam, signal })
  }

function restUntil(at: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, at - Date.now())
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
