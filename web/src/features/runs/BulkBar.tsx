import { useMutation } from '@tanstack/react-query'
import { exportSessions } from '@/api/exports'
import { MOST_AT_ONCE } from '@/api/runs'
import { countOf, formatCount } from '@/lib/numbers'
import { saveFile } from '@/lib/save'
import { Button } from '@/ui/Button'
import { copyAndSay } from '@/ui/copying'
import { Icon } from '@/ui/Icon'
import { toasts } from '@/ui/toasts'
import { useAskTransition } from '@/vocabulary/transitioning'
import type { Selection } from './useSelection'

/** What can be done with the chosen runs. It floats, so that choosing one moves nothing. */
export function BulkBar({ selection }: { selection: Selection }) {
  const ask = useAskTransition()
  const ids = [...selection.ids]
  const isTooMany = ids.length > MOST_AT_ONCE
  const save = useMutation({
    mutationFn: () => exportSessions(ids),
    onSuccess: ({ file, name }) => {
      saveFile(file, name)
      toasts.done(`${countOf(ids.length, 'run')} exported`, name)
    },
    onError: (error) => toasts.failed('Nothing was exported', error.message),
  })
  const copy = (): void => void copyAndSay(ids.join('\n'), `${countOf(ids.length, 'id')} copied`)
  if (ids.length === 0) return null
  return (
    <section
      aria-label="Selected runs"
      className="fixed bottom-5 left-1/2 z-30 flex -translate-x-1/2 items-center gap-2 rounded-panel border border-line-strong bg-raised py-2 pr-2 pl-4 shadow-2"
    >
      <span role="status" className="mr-2 medium whitespace-nowrap">
        {formatCount(ids.length)} selected
        {isTooMany ? (
          <span className="font-normal text-text-2">, but up to {formatCount(MOST_AT_ONCE)} at a time</span>
        ) : null}
      </span>
      {ask === null ? null : (
        <Button look="primary" disabled={isTooMany} onClick={() => ask(ids, selection.clear)}>
          Transition…
        </Button>
      )}
      <Button onClick={copy}>
        <Icon name="copy" size={14} />
        Copy ids
      </Button>
      <Button onClick={() => save.mutate()} disabled={save.isPending || isTooMany}>
        <Icon name="export" size={14} />
        Export
      </Button>
      <Button look="ghost" onClick={selection.clear}>
        Clear
      </Button>
    </section>
  )
}
