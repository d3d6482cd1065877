import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type PlayInFull, type PlayInShow, playQuery, type ShowInFull } from '@/api/shows'
import { timeOfStudio } from '@/lib/clock'
import { shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatMoment } from '@/lib/time'
import { Button, buttonClass } from '@/ui/Button'
import { CopyButton } from '@/ui/CopyButton'
import { Icon } from '@/ui/Icon'
import { Chain } from '@/vocabulary/Chain'
import { Trouble } from '@/vocabulary/Trouble'
import { Fold } from './Fold'
import { GateVerdict } from './GateVerdict'
import { History } from './History'
import { Prose } from './Prose'
import { Took } from './Took'

type Props = { show: ShowInFull; play: PlayInShow; onJudge: (play: PlayInShow) => void }

// Whether a judgement is allowed is the server's to say; these are the states in which it makes sense to ask.
const mayBeJudged = ({ badges }: PlayInShow): boolean =>
  badges.pill === 'awaiting gate' || badges.pill === 'failed' || badges.integration === 'local'

/** Everything about one play: its run first, then what it was to do, how it went, what the gate said, and the files. */
export function PlayDetails({ show, play, onJudge }: Props) {
  const asked = useQuery(playQuery(show.topic, play.name))
  const full = asked.data !== undefined && 'history' in asked.data ? asked.data : null
  return (
    <div className="grid gap-x-8 gap-y-4 px-4 pt-2 pb-6 wide:grid-cols-[minmax(0,1.08fr)_minmax(0,1fr)] wide:pr-6 wide:pl-12">
      <div className="grid min-w-0 content-start gap-4">
        <div className="flex min-w-0 flex-wrap items-center gap-2">
          <OpenSession play={play} />
          {mayBeJudged(play) ? <Button onClick={() => onJudge(play)}>Judge…</Button> : null}
        </div>
        <Block title="Intent" file="_intent.md">
          {play.intent === null ? (
            <p className="text-text-3">Nobody wrote down what it is to do.</p>
          ) : (
            <Prose text={play.intent} />
          )}
        </Block>
        <Facts play={play} />
        <Obstacle show={show} play={play} />
      </div>
      <div className="grid min-w-0 content-start gap-4">
        <Block title="Gate verdict">
          <GateVerdict play={play} notes={full?.full_verdict?.notes} />
        </Block>
        {asked.error ? <Trouble error={asked.error} retry={() => void asked.refetch()} /> : null}
        <Files play={play} full={full} />
      </div>
    </div>
  )
}

function OpenSession({ play }: { play: PlayInShow }) {
  if (play.session_id === null)
    return (
      <Button look="primary" disabled title="It has no run yet">
        <Icon name="open" size={14} />
        Open session
      </Button>
    )
  return (
    <>
      <Link to="/runs/$runId" params={{ runId: play.session_id }} className={buttonClass('primary')}>
        <Icon name="open" size={14} />
        Open session
      </Link>
      {play.session === null ? (
        <span className="text-text-3">Its run was deleted</span>
      ) : (
        <Chain words={play.session.chain} state={play.session.state} raw={play.session.status} />
      )}
      <span className="mono text-text-3">{shortId(play.session_id)}</span>
    </>
  )
}

function Block({ title, file, children }: { title: string; file?: string; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h3 className="mb-1.5 text-12 strong text-text-2">
        {title}{' '}
        {file === undefined ? null : <span className="mono ml-0.5 font-normal text-text-3">{file}</span>}
      </h3>
      {children}
    </section>
  )
}

function Facts({ play }: { play: PlayInShow }) {
  const { meta } = play
  return (
    <div className="grid min-w-0 gap-3">
      <dl className="flex flex-wrap gap-x-10 gap-y-2">
        <Fact name="Duration">
          <Took play={play} />
        </Fact>
        <Fact name="Exit code">{meta.exit_code ?? '–'}</Fact>
        <Fact name="Attempt">{meta.attempt}</Fact>
      </dl>
      <dl className="grid gap-1">
        <Line name="Branch" value={meta.branch} />
        <Line name="Worktree" value={meta.worktree} cutStart />
        <Line name="Merge" value={meta.merge_sha} at={meta.merged_at} />
        <Line name="Raw status" value={meta.status} plain />
      </dl>
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-12 text-text-3">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type LineProps = {
  name: string
  value: string | null
  at?: number | null
  cutStart?: boolean
  plain?: boolean
}

function Line({ name, value, at = null, cutStart = false, plain = false }: LineProps) {
  if (value === null) return null
  const text = plainLine(value)
  return (
    <div className="grid min-h-6 grid-cols-[88px_minmax(0,1fr)_auto] items-center">
      <dt className="text-12 text-text-3">{name}</dt>
      <dd className="mono flex min-w-0 items-center gap-1" title={text}>
        <span className={cutStart ? 'cut [direction:rtl]' : 'cut'}>
          <bdi dir="ltr">{text}</bdi>
        </span>
        {plain ? null : <CopyButton text={value} label={`Copy ${name.toLowerCase()}`} />}
        {at === null ? null : (
          <span className="font-sans text-12 whitespace-nowrap text-text-3">
            {formatMoment(at, timeOfStudio())}
          </span>
        )}
      </dd>
    </div>
  )
}

/** What keeps it from starting, down to the plays at the root of it. */
function Obstacle({ show, play }: { show: ShowInFull; play: PlayInShow }) {
  const obstacle = show.obstacles.find((one) => one.play === play.name)
  if (obstacle === undefined || play.meta.started_at !== null) return null
  const because = obstacle.because_of.filter((name) => !obstacle.waits_for.includes(name))
  return (
    <Block title="Why it waits">
      <p>
        {obstacle.waits_for.length > 0 ? `It waits for ${list(obstacle.waits_for)}. ` : ''}
        {obstacle.because_of.length > 0 && because.length === 0
          ? `${list(obstacle.because_of)} cannot go on. `
          : ''}
        {because.length > 0 ? `At the root of it: ${list(because)}. ` : ''}
        {obstacle.unknown.length > 0 ? `No play has the name ${list(obstacle.unknown)}.` : ''}
      </p>
    </Block>
  )
}

const list = (names: readonly string[]): string => names.map(plainLine).join(', ')

/** The files of a play, closed until somebody wants them. */
function Files({ play, full }: { play: PlayInShow; full: PlayInFull | null }) {
  const meta = { ...play.meta, depends_on: play.depends_on, playbook: play.playbook, effort: play.effort }
  const verdict = full?.full_verdict ?? null
  return (
    <div className="grid gap-1.5">
      {full === null || full.escalation === null ? null : (
        <Fold file="_escalation.md" startsOpen>
          <Prose text={full.escalation} />
        </Fold>
      )}
      {full === null || full.prompt === null ? null : (
        <Fold file="_prompt.md">
          <Prose text={full.prompt} />
        </Fold>
      )}
      <Fold file="_meta.json" says={`${Object.keys(meta).length} fields`} json={meta} />
      {verdict === null ? null : (
        <Fold file="_verdict.json" says={`${Object.keys(verdict).length} fields`} json={verdict} />
      )}
      {full === null ? null : <History steps={full.history} />}
      {full?.problems.map((problem) => (
        <p key={problem.where} className="t-warning flex gap-1.5 text-12 text-tone-fg">
          <Icon name="warning" size={14} />
          {plainLine(problem.where)}: {plainLine(problem.message)}
        </p>
      ))}
    </div>
  )
}
