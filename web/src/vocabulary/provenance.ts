import type { Run } from '@/api/runs'
import { plainLine } from '@/lib/plain'

/** Where a run comes from, in the words of its second line. */
export function provenanceOf(run: Run): string[] {
  const { show, play, playbook, agent } = run.provenance
  const source = show === null ? null : play === null ? show : `${show} / ${play}`
  const parts = [source, playbook === null ? null : `playbook ${playbook}`, agent]
  return parts.filter((part) => part !== null).map(plainLine)
}
