import type { Run } from '@/api/runs'
import { plainLine } from '@/lib/plain'

/** Where a run comes from, in the words of its second line: what its name does not say already. */
export function provenanceOf({
  display_name,
  provenance,
}: Pick<Run, 'display_name'> & { provenance: Origin }): string[] {
  const { show, play, playbook, agent } = provenance
  const name = folded(display_name)
  const source = show === null ? null : play === null ? show : `${show} / ${play}`
  const parts = [
    source !== null && !name.startsWith(folded(source)) ? source : null,
    playbook !== null && name !== folded(playbook) ? `playbook ${playbook}` : null,
    agent !== null && name !== folded(agent) ? agent : null,
  ]
  return parts.filter((part) => part !== null).map(plainLine)
}

type Origin = Pick<Run['provenance'], 'show' | 'play' | 'playbook' | 'agent'>

// A run of a play is called show/play.
const folded = (words: string): string => words.toLowerCase().replace(/\s*\/\s*/g, '/')
