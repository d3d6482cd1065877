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
  const height = large ? 'h-[26px] leading-[26px]' : 'h-5 leading-5'
  // Without a fill it has the same edges, so that icons stand below each other and a new state moves nothing.
  const begin = large ? 'gap-[7px] pr-[11px] pl-2' : 'gap-[5px] pr-2 pl-[5px]'
  const fact = large ? '-ml-[11px] pr-[11px]' : '-ml-2 pr-2'
  const fill = look.quiet ? '' : 'bg-tone-soft'
  return (
    // A fact that has no room is left out as a whole, by wrapping to where nobody sees it: half a word says nothing.
    // Each part brings its own fill, which covers the round end of the one before: what is left out leaves no gap.
    <span
      className={`t-${look.tone} inline-flex max-w-full min-w-0 flex-wrap overflow-hidden rounded-full text-left whitespace-nowrap ${large ? 'text-13' : 'text-12'} ${height} ${look.quiet ? 'text-text-2' : 'text-tone-fg'}`}
      title={raw === undefined ? undefined : `status ${raw ?? 'legacy'}`}
    >
      <span className={`inline-flex max-w-full items-center rounded-full ${height} ${begin} ${fill}`}>
        <Icon
          name={look.icon}
          size={large ? 16 : 14}
          className={`text-tone ${large && look.icon === 'running' ? 'animate-turn' : ''}`}
        />
        <b className={`cut ${look.quiet ? 'medium text-text' : 'strong'}`}>{first}</b>
      </span>
      {facts.map((word) => (
        <span
          key={word}
          className={`rounded-r-full whitespace-pre ${height} ${fact} ${fill}`}
        >{` · ${word}`}</span>
      ))}
    </span>
  )
}
