import { useNow } from '@/lib/clock'
import { formatDuration } from '@/lib/time'

/** How long ago something began; it ticks. */
export function useAge(since: number): string {
  return formatDuration(useNow(since) - since)
}

export function Age({ since }: { since: number }) {
  return useAge(since)
}
