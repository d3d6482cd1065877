import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useHistory } from '@/api/messages'
import type { RunInFull } from '@/api/runs'
import { useAlone } from '@/lib/alone'
import { useKeys } from '@/lib/keys'
import { formatCount } from '@/lib/numbers'
import { copyAndSay } from '@/ui/copying'
import { prepareMarkdown } from '@/ui/markdown/useMarkdown'
import { BranchList } from './BranchList'
import { Pane } from './Pane'
import './transcript.css'

prepareMarkdown() // beside the messages, which are on their way meanwhile

const EVERYTHING = 'all'
const FEW = 12 // messages that may need less than the whole height

/** What a run said: its branches as a tree of forks, and beside them the messages of one, or of all in order. */
export function Transcript({ run }: { run: RunInFull }) {
  const box = useRef<HTMLDivElement>(null)
  const [isFull, setFull] = useState(false)
  const { branch, target, missed, choose, link } = useAddress(run)
  const length = branch?.history_length ?? run.message_count
  const history = useHistory(run.id, branch?.id ?? null, length, target?.position ?? length)
  useEffect(() => {
    if (target !== null || missed !== null) box.current?.scrollIntoView({ block: 'start' })
  }, [target, missed])
  useEffect(prepareMarkdown, [])
  // Of a run that ended with few messages it ends where they end. As it was opened, so that nothing moves when a run ends.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the run as it was opened
  const isShort = useMemo(() => run.status !== 'running' && run.message_count <= FEW, [run.id])
  const toggle = (): void => setFull(!isFull)
  useKeys(isFull ? { Escape: toggle } : {})
  useAlone(box, isFull)
  useEffect(() => {
    const pane = box.current?.querySelector<HTMLElement>('[role="log"]')
    if (isFull && !box.current?.contains(document.activeElement)) pane?.focus()
  }, [isFull])
  return (
    <div
      ref={box}
      className={
        isFull
          ? 'fixed inset-0 z-30 grid bg-surface max-wide:grid-rows-[auto_minmax(0,1fr)] wide:grid-cols-[264px_minmax(0,1fr)]'
          : `grid overflow-hidden rounded-panel border border-line bg-surface max-wide:grid-rows-[auto_minmax(0,1fr)] wide:grid-cols-[264px_minmax(0,1fr)] wide:grid-rows-[minmax(0,1fr)] ${isShort ? 'max-h-[max(320px,min(760px,100dvh_-_160px))]' : 'h-[min(760px,100dvh_-_160px)] min-h-80'}`
      }
    >
      {/* Whoever follows a link to a message comes to this box first; the message is centred in it. */}
      {target === null ? null : <span id={`m${target.position}`} className="absolute" />}
      <BranchList run={run} chosen={branch?.id ?? null} onChoose={choose} />
      <div className="grid min-h-0 min-w-0 grid-rows-[auto_minmax(0,1fr)]">
        <Missed says={missed} />
        <Pane
          key={`${run.id} ${branch?.id}`}
          run={run}
          branch={branch}
          history={history}
          target={target}
          isFull={isFull}
          onFull={toggle}
          onLink={link}
        />
      </div>
    </div>
  )
}

/** The branch and the message that the address names: ?branch=… and #m208. */
function useAddress(run: RunInFull) {
  const navigate = useNavigate()
  const asked = useRouterState({ select: ({ location }) => branchIn(location.search) })
  const hash = useRouterState({ select: ({ location }) => location.hash })
  const named = run.branches.find((one) => one.id === asked)
  const branch = named ?? (asked === EVERYTHING ? null : (run.branches[0] ?? null))
  const position = Number(/^m(\d+)$/.exec(hash)?.[1] ?? 0)
  const length = branch?.history_length ?? run.message_count
  const isThere = position > 0 && position <= length
  const target = useMemo(() => (isThere ? { position } : null), [isThere, position])
  const isBranchThere = asked === null || asked === EVERYTHING || named !== undefined
  const missed = missedOf(isBranchThere, position > length ? position : 0, length)

  const go = useCallback(
    (search: (before: Record<string, unknown>) => Record<string, unknown>, to: string) =>
      void navigate({
        to: '.',
        search: search as never,
        hash: to,
        replace: true,
        hashScrollIntoView: false,
        resetScroll: false,
      }),
    [navigate],
  )
  return {
    branch,
    target,
    missed,
    choose: (id: string | null) => go((before) => ({ ...before, branch: id ?? EVERYTHING }), ''),
    link: useCallback(
      (to: number) => {
        go((before) => before, `m${to}`)
        const address = new URL(location.href)
        address.hash = `m${to}`
        void copyAndSay(address.href, `Link to #${to} copied`)
      },
      [go],
    ),
  }
}

/** A link that leads nowhere says so, because one would read on in what it did not mean. */
function Missed({ says }: { says: string | null }) {
  return (
    <div className="t-warning bg-tone-soft text-12 text-tone-fg">
      {says === null ? null : (
        <p role="status" className="border-b border-tone-line px-4 py-1.5">
          {says}
        </p>
      )}
    </div>
  )
}

/** What of an address is not there, in one line; null if all of it is. `position` is 0 if that is there. */
function missedOf(isBranchThere: boolean, position: number, length: number): string | null {
  if (!isBranchThere) return 'The link names a branch that this run does not have. This is its first one.'
  if (position === 0) return null
  const last = length === 0 ? 'nothing was said here' : `the last one is #${formatCount(length)}`
  return `The link names message #${formatCount(position)}, which is not there: ${last}.`
}

function branchIn(search: object): string | null {
  return 'branch' in search && typeof search.branch === 'string' ? search.branch : null
}
