// Parts of pages that do not come: the server is away, or an update took them.

const PREFIX = 'A part of the page is missing: '
const RELOADED = 'part-missing-reloaded-at'
const APART = 30_000 // ms: a part that is missing again so soon is missing for good

/**
 * The router loads the whole document again for a part that is missing. With the server away that leaves nothing but
 * the error page of the browser, so the error gets words in which the router does not recognise it.
 */
export function keepPageWithoutParts(): void {
  addEventListener('vite:preloadError', (event) => {
    if (!event.payload.message.startsWith(PREFIX)) event.payload.message = PREFIX + event.payload.message
  })
}

export const isPartMissing = (error: Error): boolean =>
  /dynamically imported module|module script failed|Unable to preload/i.test(error.message)

/** Load the document again, because browsers remember that a part did not come. Says no instead of going in circles. */
export function loadAgainOnce(now = Date.now()): boolean {
  if (now - Number(sessionStorage.getItem(RELOADED) ?? 0) < APART) return false
  sessionStorage.setItem(RELOADED, String(now))
  location.reload()
  return true
}
