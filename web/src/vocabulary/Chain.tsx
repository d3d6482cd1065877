import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { plainLine } from '@/lib/plain'
import { formatRough } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { type Look, lookOf, UNKNOWN_LOOK } from './looks'

const PARTS_IN_LISTS = 3
const QUIET = 'quiet ' // as the server begins that word

type Props = {
  words: readonly string[]
  /** Null for what nobody brought in: only its files know it. */
  state: Schema['StateOut'] | null
  /** For a thing that has a look of its own, like a team. */
  look?: Look
  /** The stored word, for those who want to know it exactly. */
  raw?: string | null
  size?: 'list' | 'page'
  /** When it was last heard, so that its silence goes on while nobody asks the server. */
  quietSince?: number | null
}

/** The state of a thing as one sentence of words: Running · quiet 9h · process gone. There is never a second badge. */
export function Chain({ words, state, look: own, raw, size = 'list', quietSince = null }: Props) {
  const now = useNow(quietSince)
  const look = own ?? (state === null ? UNKNOWN_LOOK : lookOf(state))
  const [first, ...facts] = (size === 'list' ? words.slice(0, PARTS_IN_LISTS) : words).map((word) =>
    quietSince !== null && word.startsWith(QUIET) ? QUIET + formatRough(now - quietSince) : plainLine(word),
  )
  const large = size === 'page'
  const shape = large ? 'h-[26px] gap-[7px] text-13' : 'h-5 gap-[5px] text-12'
  // Without a fill it has the same edges, so that icons stand below each other and a new state moves nothing.
  const edges = large ? 'pr-[11px] pl-2' : 'pr-2 pl-[5px]'
  const fill = look.quiet ? 'text-text-2' : 'bg-tone-soft text-tone-fg'
  return (
    <span
      className={`t-${look.tone} inline-flex max-w-full min-w-0 items-center rounded-full whitespace-nowrap ${shape} ${edges} ${fill}`}
      title={raw === undefined ? undefined : `status ${raw ?? 'legacy'}`}
    >
      <Icon
        name={look.icon}
        size={large ? 16 : 14}
        className={`text-tone ${large && look.icon === 'running' ? 'animate-turn' : ''}`}
      />
      {/* A fact that has no room is left out as a whole, by wrapping to where nobody sees it: half a word says nothing. */}
      <span
        className={`min-w-0 overflow-hidden text-left whitespace-normal ${large ? 'h-[26px] leading-[26px]' : 'h-5 leading-5'}`}
      >
        <b className={`cut inline-block max-w-full align-top ${look.quiet ? 'medium text-text' : 'strong'}`}>
          {first}
        </b>
        {facts.map((fact) => (
          <span key={fact} className="inline-block align-top whitespace-pre">{` · ${fact}`}</span>
        ))}
      </span>
    </span>
  )
}
