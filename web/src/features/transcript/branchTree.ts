// Branches in the order of a tree: each one under the branch it was forked from, where the fork was made.

import type { RunInFull } from '@/api/runs'

export type Branch = RunInFull['branches'][number]
export type Limb = { branch: Branch; depth: number; parent: Branch | null }

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
