import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Schema } from '@/api/client'
import type { RunInFull } from '@/api/runs'
import { formatBytes, formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatWhole } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Panel } from '@/ui/Panel'
import { Chain } from '@/vocabulary/Chain'
import { KIND_WORDS, SOURCE_WORDS, STATUS_LOOKS, STATUS_WORDS, UNKNOWN_LOOK } from '@/vocabulary/looks'
import { RunsOf } from './Overview'

const LINK = 'medium text-text hover:underline'
const RUNS_SHOWN = 6
const METADATA_SHOWN = 20
const TEXT_SHOWN = 300 // characters
const INTERACTIVE = 'interactive' // as recorders write it: a person sits in front of the run

type Row = { term: string; says: ReactNode }

/** Where a run comes from, who belongs to it, and what else was written down about it. */
export function Details({ run }: { run: RunInFull }) {
  const rows = [...sourceRows(run), ...kinRows(run), ...machineRows(run), ...endRows(run)]
  return (
    <Panel title="Details">
      <div className="px-4 py-2.5">
        <Rows rows={rows} />
      </div>
      <Metadata run={run} />
    </Panel>
  )
}

function Rows({ rows, look = '' }: { rows: readonly Row[]; look?: 'mono' | '' }) {
  return (
    <dl className="grid gap-x-8 wide:grid-cols-2">
      {rows.map(({ term, says }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a run may come from several plays, and have several processes
        <div key={at} className="grid min-h-7 grid-cols-[128px_minmax(0,1fr)] items-baseline gap-x-4 py-1">
          <dt title={term} className={`cut text-text-3 ${look || 'text-12'}`}>
            {term}
          </dt>
          <dd className={`min-w-0 break-words text-text-2 ${look}`}>{says}</dd>
        </div>
      ))}
    </dl>
  )
}

function sourceRows(run: RunInFull): Row[] {
  const { kind, source, agent, playbook, show, play } = run.provenance
  const rows: Row[] = run.plays.map((one) => ({
    term: 'Source',
    says: (
      <>
        <Link to="/shows/$topic" params={{ topic: one.topic }} search={{ play: one.play }} className={LINK}>
          Show {plainLine(one.topic)} / Play {plainLine(one.play)}
        </Link>
        <span className="text-text-3"> · attempt {one.attempt}</span>
      </>
    ),
  }))
  if (rows.length === 0 && show !== null)
    rows.push({
      term: 'Source',
      says: (
        <Link to="/shows/$topic" params={{ topic: show }} search={{}} className={LINK}>
          Show {plainLine(show)}
          {play === null ? '' : ` / Play ${plainLine(play)}`}
        </Link>
      ),
    })
  if (playbook !== null)
    rows.push({ term: 'Playbook', says: <RunsOf by={{ playbook }}>{plainLine(playbook)}</RunsOf> })
  if (agent !== null) rows.push({ term: 'Agent', says: <RunsOf by={{ agent }}>{plainLine(agent)}</RunsOf> })
  rows.push({
    term: 'Kind',
    says:
      [kind === null ? null : KIND_WORDS[kind], source === null ? null : SOURCE_WORDS[source]]
        .filter((word) => word !== null)
        .join(', ') || 'unknown',
  })
  if (run.user !== null) rows.push({ term: 'User', says: plainLine(run.user) })
  if (run.node_metadata?.[INTERACTIVE] === true)
    rows.push({ term: 'Interactive', says: 'yes, a person sits in front of it' })
  return rows
}

function kinRows(run: RunInFull): Row[] {
  const rows: Row[] = []
  if (run.parent !== null) rows.push({ term: 'Started by', says: <OtherRuns runs={[run.parent]} /> })
  if (run.children.length > 0) rows.push({ term: 'Started', says: <OtherRuns runs={run.children} /> })
  return rows
}

function OtherRuns({ runs }: { runs: readonly Schema['OtherRun'][] }) {
  const shown = runs.slice(0, RUNS_SHOWN)
  return (
    <span className="grid gap-1">
      {shown.map((run) => (
        <span key={run.id} className="flex min-w-0 items-center gap-2">
          <Link to="/runs/$runId" params={{ runId: run.id }} search={{}} className={`cut ${LINK}`}>
            {plainLine(run.display_name)}
          </Link>
          <Chain
            words={[run.status === null ? 'Legacy' : STATUS_WORDS[run.status]]}
            state={null}
            look={run.status === null ? UNKNOWN_LOOK : STATUS_LOOKS[run.status]}
          />
        </span>
      ))}
      {runs.length > shown.length ? <span>and {runs.length - shown.length} more</span> : null}
    </span>
  )
}

function machineRows(run: RunInFull): Row[] {
  const rows: Row[] = run.processes.map((process) => ({
    term: process.role === 'agent' ? 'Process' : 'Recorder',
    says: (
      <>
        {process.pid === 0 ? 'pid unknown' : `pid ${process.pid}`} on{' '}
        {process.host === null ? 'an unknown host' : plainLine(process.host)}
        {process.command === null ? null : (
          <span className="mono block text-text-3">
            <Long text={plainLine(process.command)} />
          </span>
        )}
      </>
    ),
  }))
  if (run.processes.length === 0)
    rows.push({ term: 'Process', says: plainLine(run.evidence.process_sentence) })
  rows.push({
    term: 'Artifacts',
    says:
      run.artifacts_path === null ? (
        'no folder was named'
      ) : (
        <span className="mono break-all">{plainLine(run.artifacts_path)}</span>
      ),
  })
  return rows
}

function endRows(run: RunInFull): Row[] {
  const rows: Row[] = [{ term: 'Began', says: formatWhole(run.started_at ?? run.created_at) }]
  if (run.ended_at !== null)
    rows.push({
      term: 'Ended',
      says: [
        formatWhole(run.ended_at),
        run.ended_by === null || run.ended_by === 'run' ? null : `by ${plainLine(run.ended_by)}`,
        run.exit_code === null ? null : `exit ${run.exit_code}`,
      ]
        .filter((part) => part !== null)
        .join(' · '),
    })
  if (run.messages_lost > 0)
    rows.push({
      term: 'Messages lost',
      says: `${run.messages_lost}; neither the database nor the disk took them`,
    })
  return rows
}

/** What whoever started it wrote down beside: a working folder, a ticket, anything. Its names are theirs. */
function Metadata({ run }: { run: RunInFull }) {
  const [isWhole, setWhole] = useState(false)
  const entries = Object.entries(run.node_metadata ?? {}).filter(([name]) => name !== INTERACTIVE)
  const shown = isWhole ? entries : entries.slice(0, METADATA_SHOWN)
  const left = entries.length - shown.length
  if (entries.length === 0) return null
  return (
    <section aria-label="Metadata" className="border-t border-line px-4 pt-3 pb-2.5">
      <h3 className="pb-1 text-12 medium text-text-2">Metadata</h3>
      <Rows
        rows={shown.map(([name, value]) => ({
          term: plainLine(name),
          says: <Long text={plainLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))} />,
        }))}
        look="mono"
      />
      {left > 0 ? (
        <Button look="ghost" size="small" className="mt-1" onClick={() => setWhole(true)}>
          {formatCount(left)} more
        </Button>
      ) : null}
    </section>
  )
}

/** A text that may be as long as anything: its beginning, and the rest for whoever asks for it. */
function Long({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (text.length <= TEXT_SHOWN) return text
  return isWhole ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
    <span tabIndex={0} className="block max-h-60 overflow-y-auto break-all">
      {text}
    </span>
  ) : (
    <>
      {text.slice(0, TEXT_SHOWN)}…{' '}
      <Button look="ghost" size="small" onClick={() => setWhole(true)}>
        Show all {formatBytes(text.length)}
      </Button>
    </>
  )
}
