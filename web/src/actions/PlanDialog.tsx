import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Plan } from '@/api/admin'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Keycap } from '@/ui/Keycap'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { AffectedRuns, type Allowed } from './AffectedRuns'
import { leaveOutWords, RefusalNote } from './RefusalNote'

type Props<Answer> = {
  title: string
  says: ReactNode
  /** What it is, for the refusals: "A cleanup". */
  act: string
  confirm: string
  isDanger?: boolean
  ids: readonly string[]
  plan: UseQueryResult<Plan<Answer>>
  allowed: (answer: Answer) => Allowed[]
  /** Whether there is anything to do after all. */
  isWorth?: (answer: Answer) => boolean
  isActing: boolean
  onAct: (answer: Answer) => void
  onLeaveOut: (left: string[]) => void
  onClose: () => void
  /** Another way on, beside the act itself. */
  instead?: ReactNode
  children?: (answer: Answer) => ReactNode
}

/** An act with its plan: first what would be refused, then what would happen; and then exactly that happens. */
export function PlanDialog<Answer>(props: Props<Answer>) {
  const { ids, plan, isActing, onClose } = props
  const refusals = plan.data?.refusals ?? []
  const answer = plan.data?.answer ?? null
  const refused = new Set(refusals.map((refusal) => refusal.session_id))
  const left = ids.filter((id) => !refused.has(id))
  const isReady = answer !== null && refused.size === 0 && !plan.isPlaceholderData && !plan.isError
  const isWorth = answer === null || (props.isWorth?.(answer) ?? true)
  return (
    <Dialog
      open
      onClose={onClose}
      title={props.title}
      says={props.says}
      foot={
        <>
          <span className="mr-auto flex items-center gap-2 text-12 text-text-3">
            <Keycap>Esc</Keycap> to cancel
          </span>
          <Button size="large" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="large"
            look={refused.size > 0 || !isWorth ? 'plain' : props.isDanger ? 'danger' : 'primary'}
            disabled={!isReady || !isWorth || isActing}
            onClick={() => (answer === null ? undefined : props.onAct(answer))}
          >
            {props.confirm}
          </Button>
          {props.instead}
          {refused.size > 0 && left.length > 0 ? (
            <Button size="large" look="primary" onClick={() => props.onLeaveOut(left)}>
              {leaveOutWords(refused.size)}
            </Button>
          ) : null}
        </>
      }
    >
      {refused.size > 0 ? <RefusalNote refused={refused.size} asked={ids.length} act={props.act} /> : null}
      {plan.isPending ? <Skeleton rows={Math.min(ids.length, 5)} height={34} /> : null}
      {plan.error ? <Trouble error={plan.error} retry={() => void plan.refetch()} /> : null}
      {answer === null ? null : props.children?.(answer)}
      {plan.data === undefined ? null : (
        <AffectedRuns
          title="Affected sessions"
          refusals={refusals}
          allowed={answer === null ? [] : props.allowed(answer)}
          isActing={isActing}
        />
      )}
    </Dialog>
  )
}
