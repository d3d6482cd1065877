import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { plainLine } from '@/lib/plain'
import { formatDuration, formatRough } from '@/lib/time'
import { Icon, type IconName } from '@/ui/Icon'

type Kind = Schema['ActivityKind']

const ICONS: Record<Kind, IconName> = { human: 'person', tool: 'tool', model: 'model', unknown: 'info' }

type Props = { activity: Schema['ActivityOut'] | null; size?: 'list' | 'page' }

/** What a running run waits for, and for how long. A person is the only one that is filled. */
export function ActivityChip({ activity, size = 'list' }: Props) {
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
  const large = size === 'page'
  const shape = large
    ? 'h-[26px] gap-1.5 rounded-control pr-[9px] pl-[7px] text-13'
    : 'h-5 gap-[5px] rounded-chip px-1.5 text-12'
  return (
    <span
      title={activity.kind === 'tool' ? what : undefined}
      className={`inline-flex max-w-full min-w-0 items-center border whitespace-nowrap ${shape} ${look}`}
    >
      <span className="sr-only">
        Activity: {what}
        {seconds === null ? '' : ` for ${formatDuration(seconds)}`}
      </span>
      <Icon name={ICONS[activity.kind]} size={large ? 14 : 12} className={isPerson ? '' : 'text-text-3'} />
      <b aria-hidden="true" className={`cut medium ${isPerson ? '' : 'text-text'}`}>
        {what}
      </b>
      {seconds === null ? null : (
        <span aria-hidden="true" className="flex-none">
          {formatRough(seconds)}
        </span>
      )}
    </span>
  )
}
