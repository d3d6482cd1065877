import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunInFull } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { countOf, formatCost, formatCount, formatTokens } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatClock, formatDay, formatDuration, formatSpan } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { EvidenceFacts } from '@/vocabulary/EvidenceCard'
import { Details } from './Details'
import { Timeline } from './Timeline'
import { errorKinds, modelName, modelsOf, tokenParts, tokensOf } from './words'

/** What one wants to know first, and why it is so. */
export function Overview({ run }: { run: RunInFull }) {
  return (
    <section id="overview" aria-label="Overview" className="grid gap-4">
      <div className="grid gap-4 wide:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <Facts run={run} />
        <Why run={run} />
      </div>
      <Timeline run={run} />
      <Details run={run} />
    </section>
  )
}

function Facts({ run }: { run: RunInFull }) {
  const { usage } = run
  const models = modelsOf(run)
  const tokens = tokensOf(usage)
  const agent = run.provenance.agent
  return (
    <Panel className="overflow-hidden">
      <dl className="-mt-px -ml-px grid h-full auto-rows-fr grid-cols-2 wide:grid-cols-4">
        <DurationFact run={run} />
        <Fact term="Messages" says={messagesNote(run)}>
          {formatCount(run.message_count)}
        </Fact>
        <Fact term="Tokens" says={tokens === 0 ? 'none were reported' : tokenParts(usage)}>
          {tokens === 0 ? '–' : formatTokens(tokens)}
        </Fact>
        <Fact term="Cost" says={costNote(run)}>
          {usage.cost_usd === null ? '–' : formatCost(usage.cost_usd)}
        </Fact>
        <Fact term="Agent" says={agentNote(run)}>
          {agent === null ? '–' : <RunsOf by={{ agent }}>{plainLine(agent)}</RunsOf>}
        </Fact>
        <Fact term="Model" says={modelsNote(models)}>
          <span title={models.map(plainLine).join(', ')}>{models[0] ? modelName(models[0]) : '–'}</span>
        </Fact>
        <ProcessFact run={run} />
        <ErrorsFact run={run} />
      </dl>
    </Panel>
  )
}

function Fact({ term, says, children }: { term: string; says: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 content-start border-t border-l border-line p-4">
      <dt className="mb-1 text-12 text-text-3">{term}</dt>
      <dd className="cut h-[22px] text-15 strong">{children}</dd>
      <dd className="line-clamp-2 min-h-4 text-12 break-words text-text-3" title={says}>
        {says}
      </dd>
    </div>
  )
}

function DurationFact({ run }: { run: RunInFull }) {
  const now = useNow(run.started_at)
  const began = run.started_at
  const isRunning = run.status === 'running'
  const seconds =
    isRunning && began !== null ? now - began : run.duration_ms === null ? null : run.duration_ms / 1000
  const says =
    began === null
      ? 'when it began is not known'
      : isRunning || run.ended_at === null
        ? `since ${formatClock(began)}, ${formatDay(began)}`
        : formatSpan(began, run.ended_at, now)
  return (
    <Fact term="Duration" says={says}>
      {seconds === null ? '–' : formatDuration(seconds)}
    </Fact>
  )
}

function ProcessFact({ run }: { run: RunInFull }) {
  const process = run.processes.find((one) => one.role === 'agent') ?? run.processes[0]
  if (process === undefined)
    return (
      <Fact term="Process" says={plainLine(run.evidence.process_sentence)}>
        –
      </Fact>
    )
  const words = { alive: 'alive', dead: 'gone', unknown: 'unknown' }[process.state]
  const where = process.host === null ? 'host unknown' : plainLine(process.host)
  return (
    <Fact term="Process" says={`${words} · ${where}`}>
      <span className="mono text-[12px] medium" title={plainLine(process.command ?? '')}>
        pid {process.pid}
      </span>
    </Fact>
  )
}

function ErrorsFact({ run }: { run: RunInFull }) {
  const now = useNow(run.last_message_at)
  const count = run.tool_error_count
  const last = Math.max(...run.tool_errors.map((errors) => errors.last_at))
  const says =
    count === 0
      ? 'no tool failed'
      : `${countOf(errorKinds(run), 'kind')} · last ${formatDuration(now - last)} ago`
  return (
    <Fact term="Tool errors" says={says}>
      <span className={count === 0 ? '' : 't-danger text-tone-fg'}>{formatCount(count)}</span>
    </Fact>
  )
}

function Why({ run }: { run: RunInFull }) {
  const seenAt = run.evidence.observed_at
  return (
    <Panel title="Why this state" more={seenAt === null ? null : `Checked ${formatClock(seenAt)}`}>
      <div className="grid gap-2.5 px-4 py-3 text-12">
        <EvidenceFacts run={run} />
      </div>
    </Panel>
  )
}

/** The list of runs that share something with this one. */
export function RunsOf({
  by,
  children,
}: {
  by: { agent: string } | { playbook: string }
  children: ReactNode
}) {
  return (
    <Link to="/runs" search={by} className="hover:underline">
      {children}
    </Link>
  )
}

function messagesNote(run: RunInFull): string {
  const branches = countOf(run.branch_count, 'branch', 'branches')
  return run.messages_lost > 0 ? `${branches} · ${formatCount(run.messages_lost)} lost` : branches
}

function costNote(run: RunInFull): string {
  const costs = Object.entries(run.usage_by_model)
    .filter(([, usage]) => usage.cost_usd !== null)
    .sort((one, other) => (other[1].cost_usd ?? 0) - (one[1].cost_usd ?? 0))
  if (costs.length === 0) return 'nobody said'
  if (costs.length === 1) return costs.map(([model]) => modelName(model)).join('')
  return costs
    .slice(0, 2)
    .map(([model, usage]) => `${modelName(model)} ${formatCost(usage.cost_usd ?? 0)}`)
    .join(' · ')
}

const agentNote = (run: RunInFull): string =>
  [
    run.provenance.playbook === null ? null : `playbook ${plainLine(run.provenance.playbook)}`,
    run.user === null ? null : `for ${plainLine(run.user)}`,
  ]
    .filter((part) => part !== null)
    .join(' · ') || 'no playbook'

const modelsNote = (models: readonly string[]): string =>
  models.length === 0
    ? 'nobody said'
    : models.length === 1
      ? plainLine(models[0]?.split('/').slice(0, -1).join('/') || 'the only one')
      : `and ${models.slice(1).map(modelName).join(', ')}`
