import type { PlayInShow } from '@/api/shows'
import { timeOfStudio } from '@/lib/clock'
import { formatMoment } from '@/lib/time'
import { Icon, type IconName } from '@/ui/Icon'
import { Inline } from '@/ui/Inline'

type Said = { tone: string; icon: IconName; title: string; text: string | null }

/** What the gate said of a play last, in words; `notes` are for people. */
export function GateVerdict({ play, notes }: { play: PlayInShow; notes: unknown }) {
  const cards = [verdictOf(play), goingOnOf(play)].filter((card) => card !== null)
  if (cards.length === 0) return <p className="text-text-3">The gate has not spoken yet.</p>
  return (
    <div className="grid gap-2">
      {cards.map((card) => (
        <div
          key={card.title}
          className={`t-${card.tone} rounded-control border border-tone-line bg-surface px-3 py-2.5`}
        >
          <p className="flex items-center gap-1.5">
            <Icon name={card.icon} size={14} className="text-tone" />
            <b className="strong text-tone-fg">{card.title}</b>
          </p>
          {card.text === null ? null : (
            <p className="mt-1 break-words whitespace-pre-line">
              <Inline text={card.text} />
            </p>
          )}
        </div>
      ))}
      {typeof notes === 'string' && notes !== '' ? (
        <p className="text-12 break-words text-text-3">
          Note: <Inline text={notes} />
        </p>
      ) : null}
    </div>
  )
}

function verdictOf({ verdict, badges, meta }: PlayInShow): Said | null {
  if (verdict.gate_passed === null) return null
  // While it is done again, the verdict that is known is the one about the attempt before.
  const attempt = badges.gate === 'redo' ? meta.attempt - 1 : meta.attempt
  if (verdict.gate_passed)
    return {
      tone: 'success',
      icon: 'gate_passed',
      title: `Attempt ${attempt}: passed`,
      text: verdict.feedback,
    }
  return {
    tone: 'danger',
    icon: 'gate_failed',
    title: `Attempt ${attempt}: changes requested`,
    text: verdict.feedback,
  }
}

function goingOnOf({ badges, meta }: PlayInShow): Said | null {
  if (badges.pill === 'running') {
    const since = meta.started_at === null ? '' : ` since ${formatMoment(meta.started_at, timeOfStudio())}`
    const text =
      badges.gate === 'redo' ? 'The feedback above is part of its prompt. The gate runs when it ends.' : null
    return { tone: 'info', icon: 'running', title: `Attempt ${meta.attempt}: running${since}`, text }
  }
  if (badges.pill === 'awaiting gate')
    return {
      tone: badges.integration === 'needs you' ? 'review' : 'warning',
      icon: 'gate',
      title: badges.integration === 'needs you' ? 'It waits for your verdict' : 'It waits for the gate',
      text: null,
    }
  if (badges.integration === 'needs you')
    return {
      tone: 'review',
      icon: 'person',
      title: 'It needs you',
      text: 'The attempts are used up, or it cannot go on by itself. Accept it as it is, or ask for another attempt.',
    }
  return null
}
