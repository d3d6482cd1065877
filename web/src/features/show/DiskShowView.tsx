import { useState } from 'react'
import type { ShowOnDisk } from '@/api/shows'
import { timeOfStudio } from '@/lib/clock'
import { plainLine, plainText } from '@/lib/plain'
import { formatMoment, formatWhole } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { Command, EmptyState } from '@/ui/states'
import { Chain } from '@/vocabulary/Chain'
import { Fold } from './Fold'
import { Notice, Problems } from './Notices'
import { ShowPlan } from './ShowPlan'

/** A show that only its folder knows: its files as they are, and how to bring it in. */
export function DiskShowView({ show }: { show: ShowOnDisk }) {
  const [isPlanOpen, setPlanOpen] = useState(false)
  return (
    <>
      <header className="min-w-0">
        <div className="flex min-h-8 flex-wrap items-center gap-3">
          <h1 className="text-20 strong break-words">{plainLine(show.topic)}</h1>
          <Chain
            words={['Not imported', 'only on disk']}
            state={null}
            raw={show.status ?? 'unknown'}
            size="page"
          />
        </div>
        {show.goal === null ? null : (
          <p className="mt-1 max-w-[92ch] text-pretty break-words text-text-2">{plainText(show.goal)}</p>
        )}
        <p className="mono mt-2 break-all text-text-3">{plainLine(show.path)}</p>
      </header>
      <Notice tone="neutral" icon="info" title="Nobody brought this show in">
        <div className="grid gap-2 pt-0.5">
          Its runs, its graph and the state of its plays are known as soon as it is in the database.
          <Command>li state import-shows</Command>
        </div>
      </Notice>
      <Problems problems={show.problems} />
      <Panel title="Plays" count={show.plays.length}>
        {show.plays.length === 0 ? <EmptyState title="No play has a folder yet." /> : null}
        <ul>
          {show.plays.map((play) => (
            <li key={play.name} className="grid gap-1.5 border-b border-line px-4 py-3 last:border-0">
              <div className="flex items-center gap-2">
                <span className="cut medium">{plainLine(play.name)}</span>
                {typeof play.meta.status === 'string' ? (
                  <span className="mono text-text-3">{plainLine(play.meta.status)}</span>
                ) : null}
                <span className="ml-auto text-12 text-text-3" title={formatWhole(play.updated_at)}>
                  {formatMoment(play.updated_at, timeOfStudio())}
                </span>
              </div>
              <Fold file="_meta.json" says={`${Object.keys(play.meta).length} fields`} json={play.meta} />
              {play.verdict === null ? null : (
                <Fold
                  file="_verdict.json"
                  says={`${Object.keys(play.verdict).length} fields`}
                  json={play.verdict}
                />
              )}
            </li>
          ))}
        </ul>
      </Panel>
      {show.show_md === null ? null : (
        <ShowPlan text={show.show_md} isOpen={isPlanOpen} onToggle={() => setPlanOpen(!isPlanOpen)} />
      )}
    </>
  )
}
