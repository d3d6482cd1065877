import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Transitioning } from '@/actions/Transitioning'
import { historyQuery, type RunInFull, teamMessagesOfRunQuery } from '@/api/runs'
import { useKeys } from '@/lib/keys'
import { copyAndSay } from '@/ui/copying'
import { Files } from './Files'
import { History } from './History'
import { Overview } from './Overview'
import { RunHeader } from './RunHeader'
import { SECTIONS, type SectionId, sectionOf, useSectionInView } from './sections'
import { TeamMessages } from './TeamMessages'
import { ToolErrors } from './ToolErrors'
import './run.css'

const TOP_BAR = 48
const AFTER_DIALOG = 50 // ms: a dialog gives the focus back when it is closed, if there is anybody to give it to
const AIR = 12 // px between the header and a section that was jumped to

type Props = {
  run: RunInFull
  /** What it said, among its sections. */
  transcript: ReactNode
}

/** One run, from its state to its history, in one scroll. */
export function RunView({ run, transcript }: Props) {
  const navigate = useNavigate()
  const header = useRef<HTMLElement>(null)
  const below = useRoomAbove(header)
  const hash = useRouterState({ select: ({ location }) => location.hash })
  const [jump, setJump] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: jumping to the same section again is a jump, too
  const jumped = useMemo(() => {
    const to = sectionOf(hash)
    return to === null ? null : { to }
  }, [hash, jump])
  const inView = useSectionInView(below, jumped)
  const [isEvidenceOpen, setEvidenceOpen] = useState(false)
  const [isAsking, setAsking] = useState(false)
  useFocusAfter(header, isAsking, `${run.status} ${run.actions}`)
  const history = useQuery(historyQuery(run.id))
  const team = useQuery(teamMessagesOfRunQuery(run.id))
  const teamMessages = Math.max(run.team_messages, team.data?.items.length ?? 0)

  const go = (id: SectionId): void => {
    setJump(jump + 1)
    void navigate({ from: '/runs/$runId', to: '.', search: true, hash: id, replace: hash === id })
    document.getElementById(id)?.scrollIntoView({ block: 'start' })
  }
  const copy = (): void => void copyAndSay(location.href, 'Link copied')
  const evidence = (): void => setEvidenceOpen((open) => !open)
  useKeys({
    ...Object.fromEntries(SECTIONS.map(({ id }, index) => [`${index + 1}`, () => go(id)])),
    c: copy,
    C: copy,
    e: evidence,
    E: evidence,
  })
  return (
    <Transitioning onAsking={setAsking}>
      <RunHeader
        ref={header}
        run={run}
        inView={inView}
        teamMessages={teamMessages}
        steps={history.data?.items.length ?? null}
        isEvidenceOpen={isEvidenceOpen}
        onEvidence={setEvidenceOpen}
        onCopy={copy}
        onJump={go}
      />
      <Overview run={run} />
      <ToolErrors run={run} />
      <section id="branches" aria-label="Branches" className="min-w-0">
        {transcript}
      </section>
      <div className="grid items-start gap-4 wide:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
        <Files run={run} />
        <TeamMessages messages={team} count={teamMessages} />
      </div>
      <History history={history} />
    </Transitioning>
  )
}

/** What was pressed is gone once it is done; its neighbour takes the focus, not nobody. */
function useFocusAfter(header: RefObject<HTMLElement | null>, isAsking: boolean, state: string): void {
  const wasAsked = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state may change before the dialog closes, or after
  useEffect(() => {
    if (isAsking) wasAsked.current = true
    if (isAsking || !wasAsked.current) return
    const timer = setTimeout(() => {
      if (document.activeElement !== document.body) return
      header.current?.querySelector<HTMLElement>('[aria-label=Actions] > :last-child')?.focus()
    }, AFTER_DIALOG)
    return () => clearTimeout(timer)
  }, [header, isAsking, state])
}

/** How far down the header reaches. What is jumped to comes to lie below it, wherever the jump comes from. */
function useRoomAbove(header: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0)
  useLayoutEffect(() => {
    const element = header.current
    if (element === null) return
    const watch = new ResizeObserver(() => setHeight(element.offsetHeight))
    setHeight(element.offsetHeight)
    watch.observe(element)
    return () => watch.disconnect()
  }, [header])
  const below = TOP_BAR + height + AIR
  useLayoutEffect(() => {
    const { style } = document.documentElement
    style.scrollPaddingTop = `${below}px`
    return () => {
      style.scrollPaddingTop = ''
    }
  }, [below])
  return below
}
