import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useAct } from '@/actions/useAct'
import { archiveLegacy, archivePlanQuery, backfillLegacy, legacyQuery } from '@/api/admin'
import { countOf, shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { ActFoot, Dialog } from '@/ui/Dialog'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { Goes } from './PruneDialog'

/** Gives legacy runs the status completed. */
export function BackfillDialog({ count, onClose }: { count: number; onClose: () => void }) {
  const legacy = useQuery(legacyQuery)
  const total = legacy.data?.total ?? count
  const act = useAct({
    working: `Backfilling ${countOf(total, 'legacy run')}`,
    act: () => backfillLegacy(),
    done: ({ sessions }) => ({
      title: `${countOf(sessions, 'legacy run')} backfilled`,
      text: 'They are completed now. One entry in the event log.',
    }),
    failed: 'The legacy runs were not all backfilled',
    onDone: onClose,
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Backfill ${countOf(total, 'legacy run')}?`}
      says="Each of them gets the status completed and counts from then on. Nothing else about them changes."
      foot={
        <ActFoot onClose={onClose} disabled={total === 0 || act.isPending} onClick={() => act.mutate()}>
          Backfill {countOf(total, 'run')}
        </ActFoot>
      }
    >
      {legacy.isPending ? <Skeleton rows={3} height={34} /> : null}
      {legacy.error ? <Trouble error={legacy.error} retry={() => void legacy.refetch()} /> : null}
      {legacy.data === undefined ? null : (
        <ul className="divide-y divide-line rounded-panel border border-line" aria-label="Legacy runs">
          {legacy.data.sample.map((run) => (
            <li key={run.id} className="flex min-h-[34px] items-center gap-3 px-3">
              <span className="mono">{shortId(run.id)}</span>
              <span className="cut">{plainLine(run.display_name)}</span>
            </li>
          ))}
          {total > legacy.data.sample.length ? (
            <li className="px-3 py-2 text-12 text-text-3">
              and {countOf(total - legacy.data.sample.length, 'other')},{' '}
              <Link to="/runs" search={{ view: 'legacy' }} className="underline">
                all in the list of runs
              </Link>
            </li>
          ) : null}
        </ul>
      )}
    </Dialog>
  )
}

/** Writes legacy runs into a file on the server's disk, and then deletes them. */
export function ArchiveDialog({ onClose }: { onClose: () => void }) {
  const plan = useQuery(archivePlanQuery)
  const going = plan.data?.removed.sessions ?? 0
  const act = useAct({
    working: `Archiving ${countOf(going, 'legacy run')}`,
    act: () => archiveLegacy(),
    done: ({ removed, path }) => ({
      title: `${countOf(removed.sessions, 'legacy run')} archived`,
      text: `They are in ${path ?? 'no file'}.`,
    }),
    failed: 'The legacy runs were not archived',
    onDone: onClose,
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={plan.data === undefined ? 'Archive legacy runs?' : `Archive ${countOf(going, 'legacy run')}?`}
      says="They are written into a file in the folder of backups, the file is read back, and only then they are deleted here."
      foot={
        <ActFoot
          onClose={onClose}
          look="danger"
          disabled={going === 0 || act.isPending}
          onClick={() => act.mutate()}
        >
          Archive {countOf(going, 'run')}
        </ActFoot>
      }
    >
      {plan.isPending ? <Skeleton rows={2} height={34} /> : null}
      {plan.error ? <Trouble error={plan.error} retry={() => void plan.refetch()} /> : null}
      {plan.data === undefined ? null : (
        <Goes
          removed={plan.data.removed}
          stays={
            plan.data.kept.length === 0
              ? 'A file that holds all of it'
              : `A file that holds all of it, and ${countOf(plan.data.kept.length, 'run')} that something needs`
          }
        />
      )}
    </Dialog>
  )
}
