import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from 'react'
import { type Act, ActPlace, type AskAct } from '@/vocabulary/operatorActs'
import { type AskTransition, TransitionPlace } from '@/vocabulary/transitioning'

// They come with the first question, not with the page.
const TransitionDialog = lazy(() =>
  import('./TransitionDialog').then((module) => ({ default: module.TransitionDialog })),
)
const RepairDialog = lazy(() => import('./RepairDialog').then((module) => ({ default: module.RepairDialog })))
const CleanupDialog = lazy(() =>
  import('./CleanupDialog').then((module) => ({ default: module.CleanupDialog })),
)

type Question = { act: Act; ids: string[]; onDone?: () => void }

type TransitioningProps = {
  children: ReactNode
  /** Told whenever a dialog opens or closes. */
  onAsking?: (isAsking: boolean) => void
}

/** Lets everything within ask for what an operator does to runs, and shows the one dialog for each. */
export function Transitioning({ children, onAsking }: TransitioningProps) {
  const [question, setQuestion] = useState<Question | null>(null)
  const isAsking = question !== null
  useEffect(() => onAsking?.(isAsking), [onAsking, isAsking])
  const ask = useCallback<AskAct>((act, ids) => setQuestion({ act, ids: [...ids] }), [])
  const askTransition = useCallback<AskTransition>(
    (ids, onDone) => setQuestion({ act: 'transition', ids: [...ids], ...(onDone ? { onDone } : {}) }),
    [],
  )
  return (
    <ActPlace value={ask}>
      <TransitionPlace value={askTransition}>
        {children}
        {question === null ? null : (
          <Suspense>
            <Dialogs question={question} onAsk={ask} onClose={() => setQuestion(null)} />
          </Suspense>
        )}
      </TransitionPlace>
    </ActPlace>
  )
}

type Props = { question: Question; onAsk: AskAct; onClose: () => void }

function Dialogs({ question: { act, ids, onDone = () => undefined }, onAsk, onClose }: Props) {
  switch (act) {
    case 'transition':
      return <TransitionDialog open sessionIds={ids} onClose={onClose} onDone={onDone} />
    case 'cleanup':
      return <CleanupDialog ids={ids} onClose={onClose} onDone={onDone} />
    case 'repair':
      return (
        <RepairDialog
          ids={ids}
          onClose={onClose}
          onDone={onDone}
          onTransition={(others) => onAsk('transition', others)}
        />
      )
  }
}
