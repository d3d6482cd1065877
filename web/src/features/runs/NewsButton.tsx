import { useEffect, useRef, useState } from 'react'
import { countOf, formatCount } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'
import type { News } from './watching'

const SAID_EVERY = 10_000 // ms: whoever listens wants to hear other things, too

/** What waits to be let in. Its place is always there, so that nothing moves when something does. */
export function NewsButton({ news, onTake }: { news: News; onTake: () => void }) {
  const { count, isMore, left } = news
  const amount = `${formatCount(count)}${isMore ? '+' : ''}`
  const sentences = [
    ...(count === 0 ? [] : [`${isMore ? `More than ${formatCount(count)} runs are` : isOne(count)} new.`]),
    ...(left.size === 0 ? [] : [`${countOf(left.size, 'run no longer matches', 'runs no longer match')}.`]),
  ]
  const isNews = sentences.length > 0
  const said = useCalm(sentences.join(' '))
  return (
    <div className="flex w-[84px] flex-none justify-end">
      <span role="status" className="sr-only">
        {said}
      </span>
      {isNews ? (
        <button
          type="button"
          onClick={onTake}
          title={`${sentences.join(' ')} Show the list as it is now.`}
          className="inline-flex h-6 flex-none items-center gap-[5px] rounded-full bg-accent pr-2.5 pl-2 text-12 medium whitespace-nowrap text-on-accent shadow-2 hover:bg-accent-hover"
        >
          <Icon name="up" size={12} />
          {count > 0 ? `${amount} new` : `${formatCount(left.size)} left`}
        </button>
      ) : null}
    </div>
  )
}

const isOne = (count: number): string => countOf(count, 'run is', 'runs are')

/** A text that is said now, and then at most every ten seconds. */
function useCalm(text: string): string {
  const [said, setSaid] = useState(text)
  const at = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (text === said) return
    const wait = text === '' ? 0 : Math.max(0, at.current + SAID_EVERY - performance.now())
    const timer = setTimeout(() => {
      at.current = performance.now()
      setSaid(text)
    }, wait)
    return () => clearTimeout(timer)
  }, [text, said])
  return said
}
