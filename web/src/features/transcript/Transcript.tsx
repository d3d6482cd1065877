import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useHistory } from '@/api/messages'
import type { RunInFull } from '@/api/runs'
import { useKeys } from '@/lib/keys'
import { prepareMarkdown } from '@/ui/markdown/useMarkdown'
import { toasts } from '@/ui/toasts'
import { BranchList } from './BranchList'
import { Pane } from './Pane'
import './transcript.css'

prepareMarkdown() // beside the messages, which are on their way meanwhile

const EVERYTHING = 'all'

/** What a run said: its branches as a tree of forks, and beside them the messages of one, or of all in order. */
export function Transcript({ run }: { run: RunInFull }) {
  const box = useRef<HTMLDivElement>(null)
  const [isFull, setFull] = useState(false)
  const { branch, target, choose, link } = useAddress(run)
  const history = useHistory(run.id, branch?.id ?? null, branch?.history_length ?? run.message_count)
  useEffect(() => {
    if (target !== null) box.current?.scrollIntoView({ block: 'start' })
  }, [target])
  useEffect(prepareMarkdown, [])
  const toggle = (): void => setFull(!isFull)
  useKeys(isFull ? { Escape: toggle } : {})
  return (
    <div
      ref={box}
      className={
        isFull
          ? 'fixed inset-0 z-30 grid bg-surface max-wide:grid-rows-[auto_minmax(0,1fr)] wide:grid-cols-[264px_minmax(0,1fr)]'
          : 'grid h-[min(760px,100dvh_-_160px)] min-h-80 overflow-hidden rounded-panel border border-line bg-surface max-wide:grid-rows-[auto_minmax(0,1fr)] wide:grid-cols-[264px_minmax(0,1fr)]'
      }
    >
      {/* Whoever follows a link to a message comes to this box first; the message is centred in it. */}
      {target === null ? null : <span id={`m${target.position}`} className="absolute" />}
      <BranchList run={run} chosen={branch?.id ?? null} onChoose={choose} />
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
  const target = useMemo(() => (position > 0 ? { position } : null), [position])

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
    choose: (id: string | null) => go((before) => ({ ...before, branch: id ?? EVERYTHING }), ''),
    link: useCallback(
      (to: number) => {
        go((before) => before, `m${to}`)
        const address = new URL(location.href)
        address.hash = `m${to}`
        void navigator.clipboard.writeText(address.href).then(() => toasts.done(`Link to #${to} copied`))
      },
      [go],
    ),
  }
}

function branchIn(search: object): string | null {
  return 'branch' in search && typeof search.branch === 'string' ? search.branch : null
}
