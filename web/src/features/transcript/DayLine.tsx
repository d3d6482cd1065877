import { timeOfStudio } from '@/lib/clock'
import { dayOf } from '@/lib/days'

/** Which day it is from here on; `before` is the moment of what is shown above, null for the first message. */
export function DayLine({ at, before }: { at: number; before: number | null }) {
  const now = timeOfStudio()
  const day = dayOf(at, now)
  // A transcript of today only needs no date.
  if (day === dayOf(before ?? now, now)) return null
  return <h3 className="border-y border-line bg-sunken py-1 pr-4 pl-[92px] text-12 text-text-3">{day}</h3>
}
