import { Link } from '@tanstack/react-router'
import type { Concern } from '@/api/dashboard'
import { plainLine } from '@/lib/plain'
import { Button, buttonClass } from '@/ui/Button'
import { useAskTransition } from '@/vocabulary/transitioning'
import { toConcern } from './lists'

/** What to do next about a thing: end a run that nobody is behind any more, decide about a play, or look. */
export function ConcernAction({ concern }: { concern: Concern }) {
  const ask = useAskTransition()
  const name = plainLine(concern.title)
  const isDead = concern.signals.includes('stale') || concern.signals.includes('orphaned')
  if (ask !== null && isDead) {
    return (
      <Button
        size="small"
        aria-label={`Transition… ${name}`}
        className="w-full"
        onClick={() => ask([concern.id])}
      >
        Transition…
      </Button>
    )
  }
  const word = concern.subject === 'session' ? 'Inspect' : 'Review'
  return (
    <Link
      {...toConcern(concern)}
      aria-label={`${word} ${name}`}
      className={`w-full ${buttonClass('plain', 'small')}`}
    >
      {word}
    </Link>
  )
}
