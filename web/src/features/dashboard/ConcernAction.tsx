import { Link, type LinkProps } from '@tanstack/react-router'
import type { Concern } from '@/api/dashboard'
import { plainLine } from '@/lib/plain'
import { Button, buttonClass } from '@/ui/Button'
import { ACT_WORDS, offerOf, useAskAct } from '@/vocabulary/operatorActs'
import { toConcern, toLogs } from './lists'

/** What to do next about a thing: what the console offers for such a run, decide about a play, or look. */
export function ConcernAction({ concern }: { concern: Concern }) {
  const ask = useAskAct()
  const name = plainLine(concern.title)
  const offer = offerOf(concern.actions)
  if (concern.subject !== 'session') return <Way word="Review" name={name} link={toConcern(concern)} />
  if (offer === 'logs') return <Way word="Logs" name={`of ${name}`} link={toLogs(concern.id)} />
  if (offer === null || ask === null) return <Way word="Inspect" name={name} link={toConcern(concern)} />
  return (
    <Button
      size="small"
      aria-label={`${ACT_WORDS[offer]} ${name}`}
      className="w-full"
      onClick={() => ask(offer, [concern.id])}
    >
      {ACT_WORDS[offer]}
    </Button>
  )
}

function Way({ word, name, link }: { word: string; name: string; link: LinkProps }) {
  return (
    <Link {...link} aria-label={`${word} ${name}`} className={`w-full ${buttonClass('plain', 'small')}`}>
      {word}
    </Link>
  )
}
