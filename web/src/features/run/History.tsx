import type { UseQueryResult } from '@tanstack/react-query'
import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { plainLine } from '@/lib/plain'
import { formatClock, formatDate, formatTime, formatWhole, isSameDay } from '@/lib/time'
import { Dotted } from '@/ui/Dotted'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { STATUS_LOOKS, STATUS_WORDS, UNKNOWN_LOOK } from '@/vocabulary/looks'
import { Trouble } from '@/vocabulary/Trouble'

type Step = Schema['Transition']
type Status = Schema['SessionStatus']

/** Every status a run had, who gave it and why, newest first. */
export function History({ history }: { history: UseQueryResult<Schema['Page_Transition_']> }) {
  const steps = history.data?.items.toReversed() ?? []
  return (
    <Panel
      id="history"
      className="overflow-hidden"
      title="Status history"
      beside={<span className="text-12 text-text-3">append-only</span>}
    >
      {history.isPending ? <Skeleton rows={2} /> : null}
      {history.error ? <Trouble error={history.error} retry={() => void history.refetch()} /> : null}
      {history.data && steps.length === 0 ? (
        <p className="px-4 py-3 text-text-3">No change of status was written down for this run.</p>
      ) : null}
      {steps.length === 0 ? null : (
        // Where four columns have no room they stand below each other.
        <table className="w-full table-fixed max-[639px]:block">
          <thead className="max-[639px]:sr-only bg-sunken text-left text-12 text-text-3">
            <tr className="h-8 border-b border-line">
              <th className="w-28 pl-4 medium">When</th>
              <th className="w-64 px-3 medium max-wide:w-44">State</th>
              <th className="px-3 medium">Reason</th>
              <th className="w-32 pr-4 pl-3 medium max-wide:w-24">By</th>
            </tr>
          </thead>
          <tbody className="max-[639px]:block">
            {steps.map((step) => (
              <StepRow key={`${step.at} ${step.from_status} ${step.to_status}`} step={step} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function StepRow({ step }: { step: Step }) {
  const now = useNow(step.at)
  return (
    <tr className="border-b border-line align-top last:border-0 hover:bg-hover max-[639px]:grid max-[639px]:grid-cols-2 max-[639px]:gap-y-1.5 max-[639px]:px-4 max-[639px]:py-3 max-[639px]:[&>td]:p-0">
      <td className="py-3 pl-4 whitespace-nowrap text-text-2">
        <time title={formatWhole(step.at)}>
          {isSameDay(step.at, now)
            ? formatClock(step.at)
            : `${formatDate(step.at, now)} ${formatTime(step.at)}`}
        </time>
      </td>
      <td className="px-3 py-3 max-[639px]:order-1 max-[639px]:col-span-2">
        <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-1">
          {step.from_status === null || step.from_status === step.to_status ? null : (
            <>
              <span className="text-12 text-text-3">{statusWord(step.from_status)}</span>
              <Icon name="right" size={12} className="text-text-3" />
              <span className="sr-only">became</span>
            </>
          )}
          <Chain
            words={[step.to_status === null ? 'Deleted' : statusWord(step.to_status)]}
            state={null}
            look={isStatus(step.to_status) ? STATUS_LOOKS[step.to_status] : UNKNOWN_LOOK}
          />
        </span>
      </td>
      <td className="px-3 py-3 break-words max-[639px]:order-1 max-[639px]:col-span-2">
        {step.sentence === null ? null : <p className="leading-[18px]">{plainLine(step.sentence)}</p>}
        {step.reason_code === null ? null : (
          <p className="mono text-text-3">
            <Dotted text={plainLine(step.reason_code)} />
          </p>
        )}
        <Proof step={step} />
      </td>
      <td className="py-3 pr-4 pl-3 break-words text-text-2 max-[639px]:text-right">
        {plainLine(step.actor)}
      </td>
    </tr>
  )
}

/** What was known when somebody decided, if it was kept. */
function Proof({ step }: { step: Step }) {
  const reasons = step.evidence?.reasons
  if (!Array.isArray(reasons)) return null
  const sentences = reasons
    .map((reason: unknown) =>
      typeof reason === 'object' && reason !== null && 'sentence' in reason ? reason.sentence : null,
    )
    .filter((sentence) => typeof sentence === 'string')
  return sentences.length === 0 ? null : (
    <p className="text-12 text-text-3">Known then: {sentences.map(plainLine).join(' ')}</p>
  )
}

const isStatus = (word: string | null): word is Status => word !== null && word in STATUS_WORDS
const statusWord = (word: string): string => (isStatus(word) ? STATUS_WORDS[word] : plainLine(word))
