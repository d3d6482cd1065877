import { Link } from '@tanstack/react-router'
import type { MouseEvent, ReactNode, Ref } from 'react'
import type { RunInFull } from '@/api/runs'
import { countOf, formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { CopyButton } from '@/ui/CopyButton'
import { Keycap } from '@/ui/Keycap'
import { ActivityChip } from '@/vocabulary/ActivityChip'
import { Chain } from '@/vocabulary/Chain'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'
import { KIND_WORDS } from '@/vocabulary/looks'
import { RunActions } from './RunActions'
import { SECTIONS, type SectionId } from './sections'

type Props = {
  run: RunInFull
  inView: SectionId
  teamMessages: number
  steps: number | null
  isEvidenceOpen: boolean
  onEvidence: (open: boolean) => void
  onCopy: () => void
  onJump: (to: SectionId) => void
  ref: Ref<HTMLElement>
}

/** What stays in sight while one reads: the name, the whole state, what can be done, and where one is. */
export function RunHeader({ run, inView, teamMessages, steps, onJump, ...rest }: Props) {
  const { isEvidenceOpen, onEvidence, onCopy, ref } = rest
  const counts: Partial<Record<SectionId, number | null>> = {
    'tool-errors': run.tool_error_count,
    branches: run.branch_count,
    files: run.files.length + run.files_left_out,
    'team-messages': teamMessages,
    history: steps,
  }
  return (
    <header
      ref={ref}
      className="sticky top-12 z-[15] -mx-4 -mt-5 border-b border-line bg-canvas px-4 pt-4 wide:-mx-6 wide:px-6"
    >
      {/* Where one line has no room for all of it, the actions stand beside the name; on a phone below the state. */}
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5 max-wide:grid max-wide:grid-cols-[minmax(0,1fr)_auto] max-[599px]:grid-cols-1">
        <h1 className="cut max-w-full text-20 strong" title={plainLine(run.display_name)}>
          {plainLine(run.display_name)}
        </h1>
        <div className="contents max-wide:order-1 max-wide:col-span-full max-wide:flex max-wide:min-w-0 max-wide:flex-wrap max-wide:items-center max-wide:gap-x-2.5 max-wide:gap-y-1.5 max-[599px]:order-none">
          <EvidencePopover runId={run.id} open={isEvidenceOpen} onOpenChange={onEvidence}>
            <Chain words={run.chain} state={run.state} raw={run.status} size="page" />
          </EvidencePopover>
          {run.activity === null || run.activity.kind === 'unknown' ? null : (
            <ActivityChip activity={run.activity} size="page" />
          )}
        </div>
        <RunActions run={run} onCopy={onCopy} />
      </div>
      <Source run={run} />
      <nav aria-label="Sections" className="mt-1 -ml-2.5 flex gap-1 overflow-x-auto overflow-y-hidden">
        {SECTIONS.map(({ id, label }) => (
          <SectionLink key={id} id={id} isHere={id === inView} count={counts[id] ?? null} onJump={onJump}>
            {label}
          </SectionLink>
        ))}
        <span className="ml-auto hidden items-center gap-1 pl-4 text-12 text-text-3 wide:flex">
          <Keycap>1</Keycap>–<Keycap>6</Keycap> jump
        </span>
      </nav>
    </header>
  )
}

type LinkProps = {
  id: SectionId
  isHere: boolean
  count: number | null
  onJump: (to: SectionId) => void
  children: string
}

function SectionLink({ id, isHere, count, onJump, children }: LinkProps) {
  const press = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return // a window of its own
    event.preventDefault()
    onJump(id)
  }
  // Not a link of the router: that calls every link to this page the current one.
  return (
    <a
      href={`#${id}`}
      onClick={press}
      aria-current={isHere ? 'true' : undefined}
      className={`relative flex h-[34px] flex-none items-center gap-1.5 px-2.5 medium whitespace-nowrap hover:text-text ${isHere ? 'text-text after:absolute after:inset-x-2.5 after:bottom-0 after:h-0.5 after:rounded-[1px] after:bg-accent' : 'text-text-2'}`}
    >
      {children}
      {count === null ? null : <span className="text-12 font-normal text-text-3">{formatCount(count)}</span>}
    </a>
  )
}

/** The line below the name: its id, its kind, and where it comes from. */
function Source({ run }: { run: RunInFull }) {
  const { kind, playbook, agent } = run.provenance
  const play = run.plays[0]
  return (
    <p className="flex min-w-0 flex-wrap items-center text-12 leading-6 text-text-3">
      <span className="mr-2 flex items-center">
        <span className="mono break-all">{plainLine(run.id)}</span>
        <CopyButton text={run.id} label="Copy id" />
      </span>
      <span className="contents">
        {kind === null ? null : <Part>{KIND_WORDS[kind]}</Part>}
        {play === undefined ? null : (
          <Part>
            Source:{' '}
            <Link
              to="/shows/$topic"
              params={{ topic: play.topic }}
              search={{ play: play.play }}
              className="medium text-text-2 hover:underline"
            >
              Show {plainLine(play.topic)} / Play {plainLine(play.play)}
            </Link>
            {run.plays.length > 1 ? ` and ${countOf(run.plays.length - 1, 'more play')}` : null}
          </Part>
        )}
        {agent === null ? null : <Part title={plainLine(agent)}>agent {plainLine(agent)}</Part>}
        {playbook === null ? null : <Part title={plainLine(playbook)}>playbook {plainLine(playbook)}</Part>}
      </span>
    </p>
  )
}

function Part({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className="cut max-w-full not-first:before:mx-[5px] not-first:before:text-text-off not-first:before:content-['·']"
    >
      {children}
    </span>
  )
}
