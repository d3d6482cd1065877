import { useNow } from '@/lib/clock'
import { formatDuration } from '@/lib/time'

/** How long ago something began; it ticks. */
export function Age({ since }: { since: number }) {
  return formatDuration(useNow(since) - since)
}
