import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PlanDialog } from '@/actions/PlanDialog'
import { useAct } from '@/actions/useAct'
import { prune, prunePlanQuery } from '@/api/admin'
import type { Schema } from '@/api/client'
import { countOf } from '@/lib/numbers'
import { FormField, FormText } from '@/ui/FormField'

type Props = { ids: readonly string[]; onClose: () => void; onDone: () => void }

/** Deletes chosen runs that have ended. What goes with them is counted before. */
export function PruneDialog({ ids: asked, onClose, onDone }: Props) {
  const [ids, setIds] = useState([...asked])
  const [reason, setReason] = useState('')
  const plan = useQuery(prunePlanQuery(ids))
  const act = useAct({
    working: `Pruning ${countOf(ids.length, 'run')}`,
    act: () =>
      prune({ session_ids: ids, dry_run: false, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }),
    done: ({ removed, kept }) => ({
      title: `${countOf(removed.sessions, 'run')} pruned`,
      text: `${whatGoes(removed)}. ${kept.length === 0 ? '' : `${countOf(kept.length, 'run')} kept, because something needs them by now. `}One entry in the event log.`,
    }),
    failed: 'The prune did not come to its end',
    onDone: () => {
      onDone()
      onClose()
    },
  })
  return (
    <PlanDialog
      title={`Prune ${countOf(ids.length, 'session')}?`}
      says="The records are deleted and cannot be brought back. Export them first if they may be needed."
      act="A prune"
      confirm={`Delete ${countOf(ids.length, 'run')}`}
      isDanger
      ids={ids}
      plan={plan}
      allowed={(answer) => answer.session_ids.map((id) => ({ id, says: 'would be deleted' }))}
      isActing={act.isPending}
      onAct={() => act.mutate()}
      onLeaveOut={setIds}
      onClose={onClose}
    >
      {(answer) => (
        <>
          <Goes
            removed={answer.removed}
            stays="Files on disk stay, and so does the history that says when they were pruned."
          />
          <FormField label="Reason" aside="optional, kept in the audit log">
            <FormText value={reason} maxLength={4000} onChange={(event) => setReason(event.target.value)} />
          </FormField>
        </>
      )}
    </PlanDialog>
  )
}

export const whatGoes = (removed: Schema['RemovedOut']): string =>
  [
    countOf(removed.sessions, 'run'),
    countOf(removed.branches, 'branch', 'branches'),
    countOf(removed.messages, 'message'),
  ].join(', ')

/** What goes and what stays, as two lines. */
export function Goes({ removed, stays }: { removed: Schema['RemovedOut']; stays: string }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      <dt className="text-text-3">Goes</dt>
      <dd className="medium">{whatGoes(removed)}</dd>
      <dt className="text-text-3">Stays</dt>
      <dd>{stays}</dd>
    </dl>
  )
}
