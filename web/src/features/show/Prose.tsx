import { lazy, Suspense } from 'react'
import { plainText } from '@/lib/plain'
import '@/features/transcript/transcript.css'

// Heavy, and only for who opens a play or the plan.
const Markdown = lazy(() => import('@/features/transcript/Markdown'))

/** What people and agents wrote, as markdown that can do nothing. Until it can be drawn, it is plain text. */
export function Prose({ text }: { text: string }) {
  return (
    <div className="max-w-[80ch] min-w-0 break-words">
      <Suspense fallback={<p className="whitespace-pre-line">{plainText(text)}</p>}>
        <Markdown text={text} />
      </Suspense>
    </div>
  )
}
