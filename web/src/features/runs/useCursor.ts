import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useKeys } from '@/lib/keys'
import type { Selection } from './useSelection'

export type RowCursor = {
  id: string | null
  /** How often it was moved by a key; 0 while only the mouse was used. */
  moves: number
  point: (id: string) => void
  isEvidenceOf: string | null
  showEvidence: (id: string | null) => void
}

/** The row that the keyboard speaks to. Another list begins without one. */
export function useCursor(order: readonly string[], of: unknown, selection: Selection): RowCursor {
  const navigate = useNavigate()
  const [at, setAt] = useState({ of, id: null as string | null, moves: 0 })
  const [evidence, showEvidence] = useState<string | null>(null)
  const current = at.of === of ? at : { of, id: null, moves: 0 }

  const step = (by: number) => () => {
    const here = current.id === null ? -1 : order.indexOf(current.id)
    const next = order[here < 0 ? 0 : Math.min(order.length - 1, Math.max(0, here + by))]
    if (next === undefined) return
    showEvidence(null)
    setAt({ of, id: next, moves: current.moves + 1 })
  }
  const withRow = (act: (id: string) => void) => () => {
    if (current.id !== null) act(current.id)
  }
  const open = withRow((runId) => void navigate({ to: '/runs/$runId', params: { runId } }))
  useKeys(
    {
      j: { does: 'Next run', act: step(1) },
      k: { does: 'Previous run', act: step(-1) },
      ArrowDown: step(1),
      ArrowUp: step(-1),
      Enter: { does: 'Open the run', act: open },
      x: { does: 'Select the run', act: withRow((id) => selection.toggle(id)) },
      X: { does: 'Select up to the run', act: withRow((id) => selection.toggle(id, true)) },
      e: {
        does: 'Evidence of its state',
        act: withRow((id) => showEvidence((shown) => (shown === id ? null : id))),
      },
    },
    'Runs',
  )
  const point = useCallback(
    (id: string) => setAt((before) => ({ of, id, moves: before.of === of ? before.moves : 0 })),
    [of],
  )
  return { id: current.id, moves: current.moves, point, isEvidenceOf: evidence, showEvidence }
}
