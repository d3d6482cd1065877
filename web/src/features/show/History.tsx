import type { Schema } from '@/api/client'
import { countOf } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatWhole } from '@/lib/time'
import { Fold } from './Fold'

/** How it came to be what it is, oldest first. */
export function History({ steps }: { steps: readonly Schema['Transition'][] }) {
  if (steps.length === 0) return null
  return (
    <Fold file="history" says={countOf(steps.length, 'step')}>
      <ol className="grid gap-2">
        {steps.map((step) => (
          <li key={`${step.at} ${step.to_status}`} className="grid gap-0.5">
            <span>
              <span className="mono">{step.from_status ?? 'new'}</span>
              {' → '}
              <span className="mono">{step.to_status ?? 'deleted'}</span>
              <span className="text-text-3"> by {plainLine(step.actor)}</span>
              <time className="float-right text-12 text-text-3">{formatWhole(step.at)}</time>
            </span>
            {step.sentence === null ? null : (
              <span className="text-12 text-text-2">{plainLine(step.sentence)}</span>
            )}
          </li>
        ))}
      </ol>
    </Fold>
  )
}
