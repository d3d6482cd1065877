import type { Play } from '@/api/shows'
import { Icon } from '@/ui/Icon'
import { GATE_MARKS, INTEGRATION_MARKS, pillOf } from './playLooks'

type Props = { play: Pick<Play, 'badges' | 'state' | 'session' | 'meta'> }

const SHAPE = 'inline-flex h-5 items-center gap-[5px] rounded-full text-12 whitespace-nowrap'

/** The state of a play in one cell: how far it is, what the gate said, where its work went. */
export function PlayState({ play }: Props) {
  const { gate, integration, pill } = play.badges
  const look = pillOf(play)
  return (
    <span className="flex max-w-full flex-wrap items-center gap-1" title={`status ${play.meta.status}`}>
      <span className={`${SHAPE} t-${look.tone} max-w-full bg-tone-soft pr-2 pl-[5px] medium text-tone-fg`}>
        <Icon name={look.icon} size={14} className="text-tone" />
        <span className="cut">{[pill, ...look.facts].join(' · ')}</span>
      </span>
      {gate === null ? null : <Badge word={gate} {...GATE_MARKS[gate]} />}
      {integration === null ? null : <Badge word={integration} {...INTEGRATION_MARKS[integration]} />}
    </span>
  )
}

function Badge({ word, tone, icon }: { word: string } & (typeof GATE_MARKS)['passed']) {
  return (
    <span className={`${SHAPE} t-${tone} border border-tone-line pr-[7px] pl-1 text-tone-fg`}>
      <Icon name={icon} size={12} className="text-tone" />
      {word}
    </span>
  )
}
