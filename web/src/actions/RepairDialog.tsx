import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { repair, repairPlanQuery } from '@/api/admin'
import type { Schema } from '@/api/client'
import { countOf } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { HEALTH_WORDS } from '@/vocabulary/looks'
import { PlanDialog } from './PlanDialog'
import { useAct } from './useAct'

type Props = {
  ids: readonly string[]
  onClose: () => void
  onDone: () => void
  onTransition: (ids: string[]) => void
}

/** Brings back what a run left outside of the database when its process died. Its status stays as it is. */
export function RepairDialog({ ids: asked, onClose, onDone, onTransition }: Props) {
  const [ids, setIds] = useState([...asked])
  const plan = useQuery(repairPlanQuery(ids))
  const act = useAct({
    working: `Repairing ${countOf(ids.length, 'run')}`,
    act: () => repair({ session_ids: ids, dry_run: false }),
    done: ({ items }) => ({
      title: `${countOf(items.length, 'run')} repaired`,
      text: items.map((item) => `${HEALTH_WORDS[item.health]} now. ${item.way_on}`)[0] ?? '',
    }),
    failed: 'Nothing was repaired',
    onDone: () => {
      onDone()
      onClose()
    },
  })
  const answer = plan.data?.answer ?? null
  const isFound = answer?.items.some((item) => item.steps.some((step) => step.changes)) ?? false
  return (
    <PlanDialog
      title={`Repair ${countOf(ids.length, 'session')}?`}
      says="What was left outside of the database is brought back. The status stays as it is; to end it, transition it."
      act="A repair"
      confirm="Repair"
      ids={ids}
      plan={plan}
      allowed={(answer) =>
        answer.items.map((item) => ({
          id: item.session_id,
          says: HEALTH_WORDS[item.health_before].toLowerCase(),
          more: <Steps item={item} />,
        }))
      }
      isWorth={() => isFound}
      instead={
        answer === null || isFound ? null : (
          <Button
            size="large"
            look="primary"
            onClick={() => {
              onClose()
              onTransition(ids)
            }}
          >
            Transition…
          </Button>
        )
      }
      isActing={act.isPending}
      onAct={() => act.mutate()}
      onLeaveOut={setIds}
      onClose={onClose}
    >
      {() =>
        isFound ? null : <p>Nothing was left outside of the database, so there is nothing to bring back.</p>
      }
    </PlanDialog>
  )
}

function Steps({ item }: { item: Schema['RepairedOut'] }) {
  return (
    <ul className="grid gap-1 text-12 text-text-2">
      {item.steps.map((step) => (
        <li key={`${step.step} ${step.sentence}`} className="flex items-start gap-2">
          <Icon
            name={step.changes ? 'check' : 'info'}
            size={12}
            className={`mt-0.5 ${step.changes ? 't-success text-tone' : 'text-text-3'}`}
          />
          <span className="min-w-0 break-words">{plainLine(step.sentence)}</span>
        </li>
      ))}
      <li className="text-text-3">{item.way_on}</li>
    </ul>
  )
}
