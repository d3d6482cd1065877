// The sections of a run: one scroll, and links that say which of them is in view.

import { useEffect, useState } from 'react'

export const SECTIONS = [
  { id: 'overview', label: 'Overview' },
  { id: 'tool-errors', label: 'Tool errors' },
  { id: 'branches', label: 'Branches' },
  { id: 'files', label: 'Files' },
  { id: 'team-messages', label: 'Team messages' },
  { id: 'history', label: 'History' },
] as const

export type SectionId = (typeof SECTIONS)[number]['id']

const NEAR = 48 // px below the header in which a section counts as reached
const HANDS = ['wheel', 'touchmove', 'pointerdown'] as const
const SCROLL_KEYS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', ' '])

/** The section that the hash of an address leads to: its own, or for a message that of what was said. */
export function sectionOf(hash: string): SectionId | null {
  if (/^m\d+$/.test(hash)) return 'branches'
  return SECTIONS.find((section) => section.id === hash)?.id ?? null
}

/**
 * The section in view. One that was jumped to stays it, and stays in place while what is above it still loads, until the
 * reader scrolls; even if it cannot reach the top.
 */
export function useSectionInView(below: number, jumped: { to: SectionId } | null): SectionId {
  const [inView, setInView] = useState<SectionId>('overview')
  const [left, setLeft] = useState<{ to: SectionId } | null>(null)
  useEffect(() => {
    const look = (): void => setInView(sectionAt(below))
    const take = (event: Event): void => {
      if (!(event instanceof KeyboardEvent) || SCROLL_KEYS.has(event.key)) setLeft(jumped)
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    for (const hand of [...HANDS, 'keydown']) addEventListener(hand, take, { passive: true })
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
      for (const hand of [...HANDS, 'keydown']) removeEventListener(hand, take)
    }
  }, [below, jumped])
  const held = jumped !== null && left !== jumped ? jumped.to : null
  useEffect(() => {
    if (held === null) return
    const watch = new ResizeObserver(() => document.getElementById(held)?.scrollIntoView({ block: 'start' }))
    watch.observe(document.body)
    return () => watch.disconnect()
  }, [held])
  return held ?? inView
}

function sectionAt(below: number): SectionId {
  const end = document.documentElement
  if (scrollY > 0 && scrollY + innerHeight >= end.scrollHeight - 2) return 'history'
  let found: SectionId = 'overview'
  for (const { id } of SECTIONS) {
    const box = document.getElementById(id)?.getBoundingClientRect()
    if (box !== undefined && box.top <= below + NEAR) found = id
  }
  return found
}
