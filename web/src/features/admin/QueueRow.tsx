import { Link } from '@tanstack/react-router'
import type { QueueRow as Row } from '@/api/admin'
import { useNow } from '@/lib/clock'
import { shortId } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief, formatWhole } from '@/lib/time'
import { Button, buttonClass } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { Chain } from '@/vocabulary/Chain'
import { EvidencePopover } from '@/vocabulary/EvidencePopover'
import { KIND_WORDS } from '@/vocabulary/looks'
import { ACT_WORDS, type Act, offerOf } from '@/vocabulary/operatorActs'

type Props = {
  row: Row
  /** It needs nobody any more, and stays only so that nothing moves. */
  isGone: boolean
  isSelected: boolean
  onSelect: (isOn: boolean) => void
  onAct: (act: Act) => void
}

/** One run that needs somebody: its state, where it comes from, and the one thing to do about it. */
export function QueueRow({ row, isGone, isSelected, onSelect, onAct }: Props) {
  const heardAt = row.last_message_at ?? row.started_at
  const now = useNow(heardAt)
  const name = plainLine(row.name)
  const look = isGone ? 'text-text-3 saturate-0' : isSelected ? 'bg-selected' : 'hover:bg-hover'
  return (
    <tr
      data-run={row.session_id}
      data-health={row.health}
      data-gone={isGone}
      aria-selected={isSelected}
      className={`h-11 border-b border-line last:border-0 @max-[719px]:grid @max-[719px]:h-auto @max-[719px]:grid-cols-[40px_minmax(0,1fr)_auto] @max-[719px]:items-center @max-[719px]:gap-y-1.5 @max-[719px]:py-2.5 [&>td]:px-2 ${look}`}
    >
      <td>
        <Checkbox label={`Select ${name}`} checked={isSelected} disabled={isGone} onChange={onSelect} />
      </td>
      <td className="@max-[719px]:order-1 @max-[719px]:col-span-2 @max-[719px]:col-start-2">
        {isGone ? (
          <span className="text-12">needs nobody any more</span>
        ) : (
          <EvidencePopover runId={row.session_id}>
            <Chain
              words={row.chain}
              state={row.state}
              raw={`${row.status ?? 'legacy'}, health ${row.health}`}
            />
          </EvidencePopover>
        )}
      </td>
      <td>
        <span className="grid min-w-0">
          <Link
            data-stop
            to="/runs/$runId"
            params={{ runId: row.session_id }}
            className="cut leading-[18px] medium hover:underline"
          >
            {name}
          </Link>
          <span className="mono cut leading-4 text-text-3">{shortId(row.session_id)}</span>
        </span>
      </td>
      <td className="text-text-2 @max-[819px]:hidden">
        {row.invocation_kind === null ? '–' : KIND_WORDS[row.invocation_kind]}
      </td>
      <td className="text-text-2 @max-[1019px]:hidden">
        <span className="cut block">{invocationOf(row)}</span>
      </td>
      <td className="text-right whitespace-nowrap text-text-2 @max-[719px]:hidden">
        {heardAt === null ? (
          '–'
        ) : (
          // As long as its chain says, which was judged at the same moment.
          <span title={formatWhole(heardAt)}>{formatBrief(row.idle_seconds ?? now - heardAt)} ago</span>
        )}
      </td>
      <td className="pr-4!">
        <span className="flex items-center justify-end gap-2">
          <Link
            to="/runs/$runId"
            params={{ runId: row.session_id }}
            aria-label={`Inspect ${name}`}
            className={`${buttonClass('ghost', 'small')} @max-[719px]:hidden`} // the name leads there, too
          >
            Inspect
          </Link>
          <span className="flex w-[92px]">
            {isGone ? null : <Offer row={row} name={name} onAct={onAct} />}
          </span>
        </span>
      </td>
    </tr>
  )
}

function Offer({ row, name, onAct }: { row: Row; name: string; onAct: (act: Act) => void }) {
  const offered = offerOf(row.actions)
  if (offered === 'logs') {
    return (
      <Link
        to="/runs/$runId"
        params={{ runId: row.session_id }}
        hash="branches"
        aria-label={`Logs of ${name}`}
        className={`${buttonClass('plain', 'small')} flex-1`}
      >
        Logs
      </Link>
    )
  }
  if (offered === null) return null
  return (
    <Button
      size="small"
      className="flex-1"
      aria-label={`${ACT_WORDS[offered]} ${name}`}
      onClick={() => onAct(offered)}
    >
      {ACT_WORDS[offered]}
    </Button>
  )
}

/** What started it, as an operator would say it. */
function invocationOf(row: Row): string {
  if (row.show_topic !== null) return `/show ${plainLine(row.show_topic)}`
  if (row.playbook_name !== null) return `playbook ${plainLine(row.playbook_name)}`
  if (row.agent_name !== null) return `agent ${plainLine(row.agent_name)}`
  return row.model === null ? '–' : plainLine(row.model)
}
