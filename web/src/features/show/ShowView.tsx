import { useCallback, useEffect, useRef, useState } from 'react'
import type { PlayInShow, ShowInFull } from '@/api/shows'
import { Panel } from '@/ui/Panel'
import { EmptyState } from '@/ui/states'
import { GraphStrip } from './GraphStrip'
import { JudgeDialog } from './JudgeDialog'
import { Notices } from './Notices'
import { rowId } from './PlayRow'
import { PlayTable } from './PlayTable'
import { ShowHead } from './ShowHead'
import { ShowPlan } from './ShowPlan'

type Props = {
  show: ShowInFull
  /** The play that the address names. */
  play: string | undefined
  onPlay: (name: string | undefined) => void
}

/** A show: its goal, who waits for whom, its plays, and the plan they come from. */
export function ShowView({ show, play, onPlay }: Props) {
  const [lit, setLit] = useState<string | null>(null)
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(play === undefined ? [] : [play]))
  const [judged, setJudged] = useState<PlayInShow | null>(null)
  const [isPlanOpen, setPlanOpen] = useState(false)
  const sought = useRef(play)
  const known = useRef({ open, onPlay })
  known.current = { open, onPlay }

  // Stable, so that pointing at a play does not draw every row again.
  const toggle = useCallback((name: string) => {
    const isOpening = !known.current.open.has(name)
    setOpen((before) => {
      const after = new Set(before)
      if (isOpening) after.add(name)
      else after.delete(name)
      return after
    })
    known.current.onPlay(isOpening ? name : undefined)
  }, [])
  const openAt = useCallback((name: string) => {
    if (!known.current.open.has(name)) {
      setOpen((before) => new Set(before).add(name))
      known.current.onPlay(name)
    }
    // After the row has grown, so that as much of it as possible is seen.
    requestAnimationFrame(() => scrollToPlay(name))
  }, [])
  const openPlan = () => {
    setPlanOpen(true)
    requestAnimationFrame(() => document.getElementById('plan')?.scrollIntoView({ block: 'start' }))
  }
  useEffect(() => {
    if (sought.current !== undefined) scrollToPlay(sought.current)
  }, [])

  return (
    <>
      <ShowHead show={show} onPlan={show.show_md === null ? undefined : openPlan} />
      <Notices show={show} />
      {show.graph.edges.length > 0 ? (
        <GraphStrip show={show} lit={lit} onPoint={setLit} onOpen={openAt} />
      ) : null}
      <Panel className="overflow-hidden">
        {show.plays.length === 0 ? (
          <EmptyState title="This show has no play yet.">
            <p>Plays are the bold names below “Plays” in its plan, _show.md.</p>
          </EmptyState>
        ) : (
          <PlayTable
            show={show}
            lit={lit}
            open={open}
            onPoint={setLit}
            onToggle={toggle}
            onJudge={setJudged}
          />
        )}
      </Panel>
      {show.show_md === null ? null : (
        <ShowPlan text={show.show_md} isOpen={isPlanOpen} onToggle={() => setPlanOpen(!isPlanOpen)} />
      )}
      {judged === null ? null : <JudgeDialog play={judged} onClose={() => setJudged(null)} />}
    </>
  )
}

function scrollToPlay(name: string): void {
  const row = document.getElementById(rowId(name))
  row?.scrollIntoView({ block: 'nearest' })
  const details = document.getElementById(`${rowId(name)}-details`)
  if (row === null || details === null) return
  // The details below the window are brought in, unless that would push the row itself out of it.
  if (details.getBoundingClientRect().bottom > innerHeight) row.scrollIntoView({ block: 'start' })
}
