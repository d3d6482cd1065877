import type { PlayInShow } from '@/api/shows'
import { useNow } from '@/lib/clock'
import { formatDuration } from '@/lib/time'
import { isWorking } from '@/vocabulary/playLooks'

/** How long the latest attempt took, or takes. */
export function Took({ play }: { play: PlayInShow }) {
  const since = isWorking(play) ? play.meta.started_at : null
  const now = useNow(since)
  if (since !== null) return formatDuration(now - since)
  return play.duration_ms === null ? '–' : formatDuration(play.duration_ms / 1000)
}
