import type { Play } from '@/api/shows'
import { useNow } from '@/lib/clock'
import { formatBrief, formatWhole } from '@/lib/time'
import { isWorking } from './playLooks'

/** When a play last moved: one at work moves as its run speaks, and one that never began has not. */
export function PlayUpdated({ play }: { play: Pick<Play, 'badges' | 'session' | 'meta' | 'updated_at'> }) {
  const spoke = isWorking(play) ? (play.session?.last_message_at ?? null) : null
  const at = spoke ?? play.updated_at
  const now = useNow(at)
  if (play.meta.started_at === null) return '–'
  return <span title={formatWhole(at)}>{formatBrief(now - at)} ago</span>
}
