import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Refusal } from '@/api/admin'
import { someRunsQuery } from '@/api/runList'
import type { Run } from '@/api/runs'
import { shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { refusalWord } from '@/vocabulary/admin'

const SHOWN = 20

/** `says` is what its state says, where nothing else is; `more` stands below the name: files, steps. */
export type Allowed = { id: string; says?: ReactNode; title?: string; more?: ReactNode }
type Props = {
  title: string
  refusals: readonly Refusal[]
  allowed: readonly Allowed[]
  aside?: ReactNode
  /** It happens just now: nobody asks again for runs that may be gone. */
  isActing?: boolean
}

/** Each run that an act names: those that are refused first, with why, then those to which it would happen. */
export function AffectedRuns({ title, refusals, allowed, aside, isActing = false }: Props) {
  const [isWhole, setWhole] = useState(false)
  const limit = isWhole ? Number.POSITIVE_INFINITY : SHOWN
  const refused = refusals.slice(0, limit)
  const some = allowed.slice(0, Math.max(0, limit - refusals.length))
  const hidden = refusals.length + allowed.length - refused.length - some.length
  const ids = [...refused.map((one) => one.session_id), ...some.map((one) => one.id)]
  const { data: runs } = useQuery({ ...someRunsQuery(ids), enabled: !isActing })
  return (
    <section aria-label={title} className="grid gap-2">
      <div className="flex items-center justify-between text-12">
        <h3 className="medium text-text-2">{title}</h3>
        <span role="status" className="text-text-3">
          {aside}
        </span>
      </div>
      <ul className="divide-y divide-line overflow-hidden rounded-panel border border-line bg-surface">
        {refused.map((refusal) => (
          <RefusedRow key={refusal.session_id} refusal={refusal} run={runs?.get(refusal.session_id)} />
        ))}
        {some.map((one) => (
          <li key={one.id} className={`${ROW} items-center py-1.5`}>
            <Icon name="check" size={14} className="t-success text-tone" />
            <span className="mono">{shortId(one.id)}</span>
            <span className="cut">{nameOf(runs?.get(one.id))}</span>
            <span className="cut text-right text-12 text-text-3" title={one.title}>
              {one.says ?? factsOf(runs?.get(one.id))}
            </span>
            {one.more === undefined ? null : <div className="col-span-2 col-start-3 pt-1">{one.more}</div>}
          </li>
        ))}
        {hidden > 0 ? (
          <li className="px-3 py-1">
            <Button look="ghost" size="small" onClick={() => setWhole(true)}>
              {hidden} more
            </Button>
          </li>
        ) : null}
      </ul>
    </section>
  )
}

const ROW =
  'grid grid-cols-[14px_64px_minmax(0,1fr)] wide:grid-cols-[14px_64px_minmax(0,1fr)_minmax(0,1fr)] gap-x-3 px-3 min-h-[34px] [&>:nth-child(4)]:max-wide:col-start-3 [&>:nth-child(4)]:max-wide:text-left'

function RefusedRow({ refusal, run }: { refusal: Refusal; run: Run | undefined }) {
  const id = refusal.session_id
  return (
    <li className="grid min-h-[34px] grid-cols-[14px_64px_minmax(0,1fr)_auto] gap-x-3 px-3 py-2">
      <Icon name="close" size={14} className="t-danger mt-0.5 text-tone" />
      <span className="mono mt-px">{shortId(id)}</span>
      <span className="grid min-w-0 gap-px">
        <span className="cut medium">
          {refusal.code === 'session_not_found' ? 'No such run' : nameOf(run)}
        </span>
        <span className="text-12 break-words text-text-2">{withoutId(refusal.message, id)}</span>
        {refusal.hint === null ? null : (
          <span className="text-12 break-words text-text-3">
            <Hint text={refusal.hint} />
          </span>
        )}
      </span>
      <span className="t-danger inline-flex h-5 items-center gap-1 rounded-full border border-tone-line px-2 text-12 medium whitespace-nowrap text-tone-fg">
        <Icon name="cancelled" size={12} />
        {refusalWord(refusal.code)}
      </span>
    </li>
  )
}

const COMMAND = /(\bli runs kill(?: [\w-]+)?)/
const IN_ONE_PIECE = 'mono inline-block max-w-full overflow-x-auto align-bottom whitespace-nowrap'

/** A hint; what is to be typed in it stands out and stays in one piece. */
function Hint({ text }: { text: string }) {
  return plainLine(text)
    .split(COMMAND)
    .map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
        <code key={index} className={IN_ONE_PIECE}>
          {part}
        </code>
      ),
    )
}

/** The row already says which run it is. */
const withoutId = (message: string, id: string): string => message.replace(`The run ${id} `, 'It ')

/** What its state says beside its status: quiet 9h, process gone. */
const factsOf = (run: Run | undefined): string | null => run?.chain.slice(1, 3).join(', ') ?? null

const nameOf = (run: Run | undefined): string | null =>
  run === undefined ? null : plainLine(run.display_name)
