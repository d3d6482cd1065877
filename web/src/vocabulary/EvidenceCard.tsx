import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type RunInFull, runQuery } from '@/api/runs'
import { timeOfStudio, useNow } from '@/lib/clock'
import { formatMoment } from '@/lib/time'
import { Button, buttonClass } from '@/ui/Button'
import { Dotted } from '@/ui/Dotted'
import { Icon, type IconName } from '@/ui/Icon'
import { Skeleton } from '@/ui/states'
import { type Fact, factsOf, type Proof, rulingOf } from './evidence'
import { MessageLink } from './MessageLink'
import { Trouble } from './Trouble'
import { useAskTransition } from './transitioning'

const FACT = 24 // px: a line of the card, so that it has its height before it has its facts

const PROOFS: Record<Proof, { icon: IconName; look: string; word: string }> = {
  yes: { icon: 'check', look: 't-success text-tone', word: 'Seen:' },
  no: { icon: 'close', look: 't-danger text-tone', word: 'Against it:' },
  unknown: { icon: 'unknown', look: 'text-text-3', word: 'Unknown:' },
  plain: { icon: 'info', look: 'text-text-3', word: '' },
}

/** Why a run is said to be as it is: the rule, the facts with their proof, and what can be done about it. */
export function EvidenceCard({ runId, onLeave }: { runId: string; onLeave?: () => void }) {
  const run = useQuery(runQuery(runId))
  if (run.isPending) return <Skeleton rows={6} height={FACT} />
  // What was seen stays, with the time at which it was, when a later look does not come through.
  if (run.data === undefined) return <Trouble error={run.error} retry={() => void run.refetch()} />
  return (
    <Evidence run={run.data} checkedAt={timeOfStudio(run.dataUpdatedAt)} {...(onLeave ? { onLeave } : {})} />
  )
}

type Props = { run: RunInFull; checkedAt: number; onLeave?: () => void }

function Evidence({ run, checkedAt, onLeave }: Props) {
  const now = useNow(run.last_message_at)
  const askTransition = useAskTransition()
  const seenAt = run.evidence.observed_at ?? checkedAt
  return (
    <div className="grid gap-2.5 px-4 py-3.5 text-12">
      <EvidenceFacts run={run} />
      <div className="flex items-center gap-2">
        {run.actions.includes('transition') && askTransition !== null ? (
          <Button
            look="primary"
            size="small"
            onClick={() => {
              onLeave?.()
              askTransition([run.id])
            }}
          >
            Transition…
          </Button>
        ) : null}
        <Link to="/runs/$runId" params={{ runId: run.id }} className={buttonClass('plain', 'small')}>
          Inspect
        </Link>
        <span className="ml-auto text-text-3">checked {formatMoment(seenAt, now)}</span>
      </div>
    </div>
  )
}

/** The rule that decided, and everything that was looked at. */
export function EvidenceFacts({ run }: { run: RunInFull }) {
  const now = useNow(run.last_message_at)
  const ruling = rulingOf(run)
  return (
    <>
      <div className="grid gap-0.5">
        <p className="text-13 break-words">
          <b className="strong">{ruling.word}:</b> {ruling.sentence}
        </p>
        {ruling.code === null ? null : (
          <p className="mono text-text-3">
            <Dotted text={ruling.code} />
          </p>
        )}
      </div>
      <ul className="grid gap-1.5">
        {factsOf(run, now).map((fact) => (
          <FactLine key={`${fact.says} ${fact.because}`} runId={run.id} fact={fact} />
        ))}
      </ul>
    </>
  )
}

function FactLine({ runId, fact }: { runId: string; fact: Fact }) {
  const proof = PROOFS[fact.proof]
  return (
    <li className="grid grid-cols-[14px_minmax(0,auto)_minmax(96px,1fr)] items-start gap-x-2">
      <Icon name={proof.icon} size={14} className={`mt-px ${proof.look}`} />
      <span className="break-words">
        {proof.word === '' ? null : <span className="sr-only">{proof.word} </span>}
        {fact.says}
      </span>
      <span className="min-w-0 text-right break-words text-text-3" title={fact.title}>
        {fact.place === undefined ? (
          <Dotted text={fact.because} />
        ) : (
          <MessageLink runId={runId} place={fact.place}>
            {fact.because}
          </MessageLink>
        )}
      </span>
    </li>
  )
}
