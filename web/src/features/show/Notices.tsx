import type { ReactNode } from 'react'
import type { ShowInFull } from '@/api/shows'
import { plainLine, plainText } from '@/lib/plain'
import { Icon, type IconName } from '@/ui/Icon'

/** What is to be known of a show before its plays: it is to stop, its plan is broken, a file cannot be read. */
export function Notices({ show }: { show: ShowInFull }) {
  const { cycle, unknown } = show.graph
  return (
    <>
      {show.abort_requested ? (
        <Notice tone="warning" icon="aborted" title="Abort requested">
          No new play starts; running ones finish. Remove _ABORT from its folder to go on.
        </Notice>
      ) : null}
      {cycle.length > 0 ? (
        <Notice tone="danger" icon="warning" title="These plays wait for each other and can never start">
          {[...cycle, cycle[0] ?? ''].map(plainLine).join(' → ')}
        </Notice>
      ) : null}
      {unknown.length > 0 ? (
        <Notice tone="danger" icon="warning" title="The plan names plays that do not exist">
          {unknown
            .map((edge) => `${plainLine(edge.play)} waits for ${plainLine(edge.depends_on)}`)
            .join('; ')}
        </Notice>
      ) : null}
      <FinalVerdict verdict={show.final_verdict} />
      <Problems problems={show.problems} />
    </>
  )
}

export function Problems({ problems }: { problems: ShowInFull['problems'] }) {
  if (problems.length === 0) return null
  return (
    <Notice tone="warning" icon="file" title="Not everything in its folder could be read">
      {problems.map((problem) => (
        <span key={`${problem.where} ${problem.message}`} className="block break-words">
          <span className="mono">{plainLine(problem.where)}</span> {plainLine(problem.message)}
        </span>
      ))}
    </Notice>
  )
}

function FinalVerdict({ verdict }: { verdict: ShowInFull['final_verdict'] }) {
  if (verdict === null) return null
  const passed = verdict.show_passed === true
  const blockers = Array.isArray(verdict.blockers)
    ? verdict.blockers.filter((one) => typeof one === 'string')
    : []
  return (
    <Notice
      tone={passed ? 'success' : 'danger'}
      icon={passed ? 'gate_passed' : 'gate_failed'}
      title={passed ? 'The final gate passed' : 'The final gate failed'}
    >
      {typeof verdict.summary === 'string' ? plainText(verdict.summary) : null}
      {blockers.map((blocker) => (
        <span key={blocker} className="block">
          {plainLine(blocker)}
        </span>
      ))}
    </Notice>
  )
}

type NoticeProps = { tone: string; icon: IconName; title: string; children: ReactNode }

export function Notice({ tone, icon, title, children }: NoticeProps) {
  return (
    <div
      role="note"
      className={`t-${tone} flex min-w-0 gap-2.5 rounded-panel border border-tone-line bg-surface px-4 py-3`}
    >
      <Icon name={icon} className="mt-0.5 text-tone" />
      <div className="min-w-0">
        <p className="medium text-tone-fg">{title}</p>
        <div className="break-words text-text-2">{children}</div>
      </div>
    </div>
  )
}
