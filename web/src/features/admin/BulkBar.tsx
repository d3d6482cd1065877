import { useExport } from '@/actions/useAct'
import type { QueueRow } from '@/api/admin'
import { exportSessions } from '@/api/exports'
import { countOf } from '@/lib/numbers'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'

type Props = {
  chosen: readonly QueueRow[]
  onClear: () => void
  onAsk: (act: 'transition' | 'prune') => void
}

/** What can be done to all that is selected. It is always there, so that selecting moves nothing. */
export function BulkBar({ chosen, onClear, onAsk }: Props) {
  const none = chosen.length === 0
  const whyNoPrune = none
    ? 'Prune: select runs that have ended'
    : chosen.some((row) => row.status === 'running')
      ? 'Prune: active runs must be ended or exported first'
      : null
  const save = useExport(countOf(chosen.length, 'run'), () =>
    exportSessions(chosen.map((row) => row.session_id)),
  )
  return (
    <div
      role="group"
      aria-label="Selected"
      className={`flex min-h-12 flex-wrap items-center gap-2 border-t border-line px-4 py-2 ${none ? 'bg-sunken' : 'bg-selected'}`}
    >
      <b role="status" className="medium">
        {none ? 'Nothing selected' : `${chosen.length} selected`}
      </b>
      {none ? null : (
        <Button look="ghost" size="small" onClick={onClear}>
          Clear
        </Button>
      )}
      <span className="ml-auto flex flex-wrap items-center justify-end gap-2">
        {whyNoPrune === null ? null : (
          <span id="why-no-prune" className="text-12 text-text-3">
            {whyNoPrune}
          </span>
        )}
        <Button
          size="small"
          look="danger"
          disabled={whyNoPrune !== null}
          {...(whyNoPrune === null ? {} : { 'aria-describedby': 'why-no-prune' })}
          onClick={() => onAsk('prune')}
        >
          Prune terminal only
        </Button>
        <Button size="small" disabled={none || save.isPending} onClick={() => save.mutate()}>
          <Icon name="download" size={12} />
          Export selected
        </Button>
        <Button look="primary" size="small" disabled={none} onClick={() => onAsk('transition')}>
          Transition selected…
        </Button>
      </span>
    </div>
  )
}
