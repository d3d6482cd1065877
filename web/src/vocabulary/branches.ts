// What branches are called, how they look, and the tree of their forks.

import type { Branch, RunInFull } from '@/api/runs'
import { HEALTH_TONES, type Tone } from './looks'

export type Limb = { branch: Branch; depth: number; parent: Branch | null }

/** Branches in the order of a tree: each one under the branch it was forked from, where the fork was made. */
export function growTree(branches: readonly Branch[]): Limb[] {
  const known = new Map(branches.map((branch) => [branch.id, branch]))
  const children = new Map<string | null, Branch[]>()
  for (const branch of branches) {
    const parent = branch.parent_branch_id
    const key = parent !== null && known.has(parent) && parent !== branch.id ? parent : null
    children.set(key, [...(children.get(key) ?? []), branch])
  }
  const limbs: Limb[] = []
  const seen = new Set<string>()
  const add = (branch: Branch, depth: number, parent: Branch | null): void => {
    if (seen.has(branch.id)) return
    seen.add(branch.id)
    limbs.push({ branch, depth, parent })
    const forks = children.get(branch.id) ?? []
    for (const fork of forks.toSorted((one, other) => (one.forked_at ?? 0) - (other.forked_at ?? 0))) {
      add(fork, depth + 1, branch)
    }
  }
  for (const root of children.get(null) ?? []) add(root, 0, null)
  for (const branch of branches) add(branch, 0, null) // what names each other as parents
  return limbs
}

export const nameOf = (branch: Branch): string => branch.name || branch.id.slice(0, 8)

/** The dot before a branch: what is wrong with a running run, else whether the branch waits for somebody. */
export function branchTone(branch: Branch, run: Pick<RunInFull, 'status' | 'effective_health'>): Tone {
  if (run.status !== 'running') return 'neutral'
  const ofRun = HEALTH_TONES[run.effective_health]
  if (ofRun !== 'info') return ofRun
  const kind = branch.activity?.kind ?? 'unknown'
  return kind === 'unknown' ? 'neutral' : kind === 'human' ? 'review' : 'info'
}
