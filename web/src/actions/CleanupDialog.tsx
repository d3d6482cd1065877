import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { cleanUp, cleanupPlanQuery } from '@/api/admin'
import type { Schema } from '@/api/client'
import { countOf, formatBytes } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { PlanDialog } from './PlanDialog'
import { useAct } from './useAct'

type Props = { ids: readonly string[]; onClose: () => void; onDone: () => void }

/** Removes the locks and unfinished files that ended runs left. The files are named before, and only those go. */
export function CleanupDialog({ ids: asked, onClose, onDone }: Props) {
  const [ids, setIds] = useState([...asked])
  const plan = useQuery(cleanupPlanQuery(ids))
  const files = plan.data?.answer?.items.flatMap((item) => item.removed) ?? []
  const act = useAct({
    working: `Removing ${countOf(files.length, 'leftover')}`,
    act: () => cleanUp({ session_ids: ids, only: files, dry_run: false }),
    done: ({ items }) => ({
      title: `${countOf(items.flatMap((item) => item.removed).length, 'leftover')} removed`,
      text: `${formatBytes(items.reduce((sum, item) => sum + item.bytes, 0))} given back, ${countOf(items.filter((item) => item.event_id !== null).length, 'entry', 'entries')} in the event log.`,
    }),
    failed: 'Nothing was cleaned up',
    onDone: () => {
      onDone()
      onClose()
    },
  })
  return (
    <PlanDialog
      title={`Clean up after ${countOf(ids.length, 'session')}?`}
      says="The files below are removed. The session, its messages and every other file stay."
      act="A cleanup"
      confirm={`Remove ${countOf(files.length, 'file')}`}
      isDanger
      ids={ids}
      plan={plan}
      allowed={(answer) =>
        answer.items.map((item) => ({
          id: item.session_id,
          says: `${countOf(item.removed.length, 'file')}, ${formatBytes(item.bytes)}`,
          more: <Files item={item} />,
        }))
      }
      isWorth={() => files.length > 0}
      isActing={act.isPending}
      onAct={() => act.mutate()}
      onLeaveOut={setIds}
      onClose={onClose}
    />
  )
}

function Files({ item }: { item: Schema['CleanedUpOut'] }) {
  return (
    <ul className="mono grid gap-0.5 text-text-2">
      {item.removed.map((path) => (
        <li key={path} className="break-all">
          {plainLine(path)}
        </li>
      ))}
      {item.kept.map((kept) => (
        <li key={kept.path} className="break-all text-text-3">
          {plainLine(kept.path)} <span className="font-sans">stays: {kept.why}</span>
        </li>
      ))}
    </ul>
  )
}
