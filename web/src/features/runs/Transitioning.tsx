import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { type AskTransition, TransitionPlace } from '@/vocabulary/transitioning'

// It comes with the first question, not with the page.
const TransitionDialog = lazy(() =>
  import('@/features/admin/TransitionDialog').then((module) => ({ default: module.TransitionDialog })),
)

type Question = { ids: string[]; onDone: (() => void) | undefined }

/** Lets everything within ask for a transition, and shows the one dialog for it. */
export function Transitioning({ children }: { children: ReactNode }) {
  const [question, setQuestion] = useState<Question | null>(null)
  const ask = useCallback<AskTransition>((ids, onDone) => setQuestion({ ids: [...ids], onDone }), [])
  return (
    <TransitionPlace value={ask}>
      {children}
      {question === null ? null : (
        <Suspense>
          <TransitionDialog
            open
            sessionIds={question.ids}
            onClose={() => setQuestion(null)}
            {...(question.onDone === undefined ? {} : { onDone: question.onDone })}
          />
        </Suspense>
      )}
    </TransitionPlace>
  )
}
