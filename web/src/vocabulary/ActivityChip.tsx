import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatDuration } from '@/lib/time'
import { Icon, type IconName } from '@/ui/Icon'

type Kind = Schema['ActivityKind']

const ICONS: Record<Kind, IconName> = { human: 'person', tool: 'tool', model: 'model', unknown: 'info' }

/** What a running run waits for, and for how long. A person is the only one that is filled. */
export function ActivityChip({ activity }: { activity: Schema['ActivityOut'] | null }) {
  const now = useNow(activity?.since ?? null)
  if (activity === null || activity.kind === 'unknown') return <span className="text-text-3">–</span>
  const what = { human: 'waiting for you', tool: plainLine(activity.tool ?? 'tool'), model: 'model' }[
    activity.kind
  ]
  const seconds = activity.since === null ? null : now - activity.since
  const isPerson = activity.kind === 'human'
  const look = isPerson
    ? 't-review border-tone-line bg-tone-soft text-tone-fg'
    : 'border-line-strong bg-surface text-text-2'
  return (
    <span
      className={`inline-flex h-5 max-w-full min-w-0 items-center gap-[5px] rounded-chip border px-1.5 text-12 whitespace-nowrap ${look}`}
    >
      <span className="sr-only">
        Activity: {what}
        {seconds === null ? '' : ` for ${formatDuration(seconds)}`}
      </span>
      <Icon name={ICONS[activity.kind]} size={12} className={isPerson ? '' : 'text-text-3'} />
      <b aria-hidden="true" className={`cut medium ${isPerson ? '' : 'text-text'}`}>
        {what}
      </b>
      {seconds === null ? null : <span aria-hidden="true">{formatBrief(seconds)}</span>}
    </span>
  )
}
