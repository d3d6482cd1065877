import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { AffectedRuns } from '@/actions/AffectedRuns'
import { useAct } from '@/actions/useAct'
import { agePrunePlanQuery, prune } from '@/api/admin'
import type { Schema } from '@/api/client'
import { countOf, formatCount, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { ActFoot, Dialog } from '@/ui/Dialog'
import { FormField, FormNumber } from '@/ui/FormField'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { Goes } from './PruneDialog'

// What the server takes if nothing is said.
const KEEP_DAYS = 30
const KEEP_NEWEST = 100
const SHOWN = 50

/** Deletes runs that ended long ago. The plan comes first, and changes with what is asked for. */
export function AgePruneDialog({ onClose }: { onClose: () => void }) {
  const [days, setDays] = useState(KEEP_DAYS)
  const [newest, setNewest] = useState(KEEP_NEWEST)
  const keep = useDeferredValue({ keep_days: days, keep_n: newest })
  const plan = useQuery(agePrunePlanQuery(keep))
  const going = plan.data?.removed.sessions ?? 0
  const act = useAct({
    working: `Pruning ${countOf(going, 'run')}`,
    // Exactly what was shown: a run that became old enough meanwhile makes another plan, which is shown instead.
    act: () =>
      prune({ ...keep, plan: plan.data?.plan ?? null, dry_run: false }).catch((error: unknown) => {
        void plan.refetch()
        throw error
      }),
    done: ({ removed, kept }) => ({
      title: `${countOf(removed.sessions, 'run')} pruned`,
      text: `${kept.length === 0 ? '' : `${countOf(kept.length, 'run')} kept, because something needs them. `}One entry in the event log.`,
    }),
    failed: 'The prune did not come to its end',
    onDone: onClose,
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={going === 0 ? 'Prune old runs?' : `Prune ${countOf(going, 'old run')}?`}
      says="Runs that ended long ago are deleted and cannot be brought back. Running ones are never touched."
      foot={
        <ActFoot
          onClose={onClose}
          look="danger"
          disabled={going === 0 || plan.isPlaceholderData || plan.isError || act.isPending}
          onClick={() => act.mutate()}
        >
          Delete {countOf(going, 'run')}
        </ActFoot>
      }
    >
      <div className="grid gap-4 wide:grid-cols-2">
        <FormField label="Days to keep" aside="after a run ended">
          <FormNumber min={0} value={days} onChange={(event) => setDays(whole(event.target.value))} />
        </FormField>
        <FormField label="Newest runs to keep" aside="however old they are">
          <FormNumber min={0} value={newest} onChange={(event) => setNewest(whole(event.target.value))} />
        </FormField>
      </div>
      {plan.isPending ? <Skeleton rows={2} height={34} /> : null}
      {plan.error ? <Trouble error={plan.error} retry={() => void plan.refetch()} /> : null}
      {plan.data === undefined ? null : <PlanOf plan={plan.data} isActing={act.isPending} />}
    </Dialog>
  )
}

const whole = (text: string): number => Math.max(0, Math.floor(Number(text) || 0))

function PlanOf({ plan, isActing }: { plan: Schema['PrunedOut']; isActing: boolean }) {
  const stays = [
    plan.kept_newest > 0 && `${formatCount(plan.kept_newest)} old enough, but among the newest`,
    plan.kept.length > 0 && `${formatCount(plan.kept.length)} old enough, but still needed`,
  ].filter((part) => part !== false)
  return (
    <section aria-label="Plan" className="grid gap-3">
      <Goes
        removed={plan.removed}
        stays={stays.length === 0 ? 'Everything else, and every file on disk' : stays.join('; ')}
      />
      {plan.session_ids.length === 0 ? (
        <p className="text-text-2">No run is old enough to go.</p>
      ) : (
        <AffectedRuns
          title="To be deleted"
          refusals={[]}
          allowed={plan.session_ids.map((id) => ({ id }))}
          isActing={isActing}
        />
      )}
      {plan.kept.length === 0 ? null : (
        <ul className="divide-y divide-line rounded-panel border border-line">
          {plan.kept.slice(0, SHOWN).map((kept) => (
            <li key={kept.session_id} className="flex min-h-[34px] items-center gap-3 px-3 text-12">
              <span className="mono">{shortId(kept.session_id)}</span>
              <span className="min-w-0 break-words text-text-2">stays: {plainLine(kept.sentence)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
