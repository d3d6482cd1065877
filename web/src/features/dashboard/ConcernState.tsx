import type { Concern } from '@/api/dashboard'
import { Chain } from '@/vocabulary/Chain'
import { wordsInRow } from '@/vocabulary/chainWords'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'

/** The state of a thing that needs a look; that of a run opens its evidence. */
export function ConcernState({ concern }: { concern: Concern }) {
  const chain = (
    <Chain words={wordsInRow(concern.chain)} state={concern.state} quietSince={concern.heard_at} />
  )
  return concern.subject === 'session' ? <EvidencePopover runId={concern.id}>{chain}</EvidencePopover> : chain
}
