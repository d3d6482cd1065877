import { useQuery } from '@tanstack/react-query'
import { type TeamInFull, teamLanesQuery } from '@/api/teams'
import { useNow } from '@/lib/clock'
import { countOf, formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatDuration, formatWhole } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { type Lane, lanesOf, type TickKind } from './lanes'

const LANE = 22
const MINUTE = 60
const TICKS: Record<TickKind, string> = {
  one: 't-neutral top-1.5 h-2.5 w-[3px] rounded-[1px] bg-tone',
  all: 'top-[3px] h-4 w-[3px] rounded-[1px] bg-text',
  escalation: 't-review top-1.5 z-10 size-2.5 rounded-[2px] bg-tone shadow-[0_0_0_2px_var(--surface)]',
}
const COLUMNS = 'grid grid-cols-[110px_minmax(0,1fr)] gap-4 wide:grid-cols-[150px_minmax(0,1fr)]'

/** Who wrote when. What it shows is also in the lists below, so for a reader of text it is one sentence. */
export function TeamLanes({ team }: { team: TeamInFull }) {
  const asked = useQuery(teamLanesQuery(team.id))
  const now = Math.floor(useNow(0) / MINUTE) * MINUTE + MINUTE // lanes that creep each second only disturb
  const lanes = lanesOf(asked.data?.items ?? [], team.members, now)
  const isPart = asked.data?.next_cursor != null
  return (
    <Panel
      title="Activity"
      beside={<Legend />}
      more={
        <span className="mr-1 whitespace-nowrap">
          {isPart ? `last ${formatCount(asked.data?.items.length ?? 0)} messages, ` : ''}
          {lanes.isNow ? 'last ' : ''}
          {formatDuration(lanes.until - lanes.from)}
        </span>
      }
    >
      {asked.isPending ? (
        // As high as the lanes will be, with what is around them and the times below, so that nothing moves.
        <div className="pt-2 pb-[26px]">
          <Skeleton rows={lanes.lanes.length} height={LANE} />
        </div>
      ) : null}
      {asked.error && asked.data === undefined ? (
        <Trouble error={asked.error} retry={() => void asked.refetch()} />
      ) : null}
      {asked.data === undefined ? null : (
        <div role="img" aria-label={sentenceOf(lanes.lanes)} className="px-4 py-2">
          {lanes.lanes.map((lane) => (
            <LaneRow key={lane.name} lane={lane} />
          ))}
          <div className={`${COLUMNS} h-[18px]`}>
            <span />
            <span className="relative text-11 text-text-3">
              {lanes.marks.map((mark) => (
                <span
                  key={mark.place}
                  className={`absolute whitespace-nowrap ${mark.place === 1 ? '-translate-x-full' : mark.place === 0 ? '' : 'hidden -translate-x-1/2 wide:inline'}`}
                  style={{ left: `${mark.place * 100}%` }}
                >
                  {mark.text}
                </span>
              ))}
            </span>
          </div>
        </div>
      )}
    </Panel>
  )
}

function LaneRow({ lane }: { lane: Lane }) {
  return (
    <div data-lane={lane.name} className={`${COLUMNS} items-center`} style={{ height: LANE }}>
      <span className="flex min-w-0 gap-2 text-12">
        <span className="cut text-text-2">{plainLine(lane.name)}</span>
        <span className="ml-auto text-text-3">{formatCount(lane.sent)}</span>
      </span>
      <span className="relative h-full">
        <span className="absolute inset-x-0 top-1/2 h-px bg-line" />
        {lane.ticks.map((tick) => (
          <span
            key={tick.id}
            data-tick={tick.kind}
            title={`${formatWhole(tick.at)}, to ${plainLine(tick.to)}`}
            className={`absolute -translate-x-1/2 ${TICKS[tick.kind]}`}
            style={{ left: `${tick.place * 100}%` }}
          />
        ))}
      </span>
    </div>
  )
}

const sentenceOf = (lanes: readonly Lane[]): string =>
  `Who wrote when: ${lanes.map((lane) => `${plainLine(lane.name)} ${countOf(lane.sent, 'message')}`).join(', ')}`

function Legend() {
  return (
    <span className="ml-2 hidden items-center gap-3 text-12 whitespace-nowrap text-text-2 wide:flex">
      <span className="flex items-center gap-1.5">
        <span className="t-neutral h-[9px] w-[3px] rounded-[1px] bg-tone" />
        to one member
      </span>
      <span className="flex items-center gap-1.5">
        <span className="h-[13px] w-[3px] rounded-[1px] bg-text" />
        to everyone
      </span>
      <span className="flex items-center gap-1.5">
        <span className="t-review size-2 rounded-[2px] bg-tone" />
        escalation
      </span>
    </span>
  )
}
