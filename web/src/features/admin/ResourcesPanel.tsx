import { type ReactNode, useState } from 'react'
import type { Schema } from '@/api/client'
import { useNow } from '@/lib/clock'
import { formatBytes } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatBrief } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { FOLDER_WORDS, WORKTREE_LOOKS } from '@/vocabulary/admin'

type Resources = Schema['ResourcesOut']
const TREES_SHOWN = 6

/** Worktrees, and what each folder takes on the disk. */
export function ResourcesPanel({ resources, className = '' }: { resources: Resources; className?: string }) {
  const now = useNow(resources.observed_at)
  return (
    <Panel
      title="Resources"
      more={
        resources.observed_at === null ? null : (
          <span className="mr-1">measured {formatBrief(now - resources.observed_at)} ago</span>
        )
      }
      className={`flex flex-col overflow-hidden ${className}`}
    >
      {resources.problem === null ? null : (
        <p role="alert" className="t-warning flex items-start gap-2 border-b border-line px-4 py-2.5">
          <Icon name="warning" size={14} className="mt-0.5 text-tone" />
          <span className="min-w-0 break-words">
            The last look failed, and is tried again within a minute. {resources.problem}
          </span>
        </p>
      )}
      {resources.pending ? (
        <Skeleton rows={5} height={36} />
      ) : (
        <>
          <Worktrees resources={resources} now={now} />
          <DiskUsage resources={resources} />
        </>
      )}
    </Panel>
  )
}

function Head({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex items-center justify-between gap-3 px-4 pt-3 pb-1">
      <h3 className="medium text-text-2">{title}</h3>
      <span className="text-12 text-text-3">{children}</span>
    </div>
  )
}

function Worktrees({ resources, now }: { resources: Resources; now: number }) {
  const [isWhole, setWhole] = useState(false)
  const trees = resources.worktrees
  const count = (status: Schema['WorktreeStatus']) => trees.filter((tree) => tree.status === status).length
  return (
    <section aria-label="Worktrees">
      <Head title="Worktrees">
        {trees.length} total · {count('active')} active · {count('dirty')} dirty · {count('stale')} stale
        {resources.worktrees_complete ? '' : ' · not all were looked at'}
      </Head>
      {trees.length === 0 ? (
        <p className="px-4 pt-1 pb-3 text-12 text-text-3">
          No worktree. Plays work in one each, under the folder that LIONAGI_WORKTREES_ROOT names.
        </p>
      ) : null}
      <ul>
        {trees.slice(0, isWhole ? trees.length : TREES_SHOWN).map((tree) => (
          <Tree key={tree.path} tree={tree} now={now} />
        ))}
      </ul>
      {trees.length > TREES_SHOWN && !isWhole ? (
        <div className="px-4 pb-2">
          <Button look="ghost" size="small" onClick={() => setWhole(true)}>
            {trees.length - TREES_SHOWN} more
          </Button>
        </div>
      ) : null}
    </section>
  )
}

function Tree({ tree, now }: { tree: Schema['WorktreeOut']; now: number }) {
  const look = WORKTREE_LOOKS[tree.status]
  const says = [look.says, tree.branch === null ? 'on no branch' : plainLine(tree.branch), tree.sentence]
  return (
    <li className="grid min-h-12 grid-cols-[7px_minmax(0,1fr)_auto] items-center gap-3 border-b border-line px-4 last:border-0">
      <span aria-hidden="true" className={`t-${look.tone} size-[7px] rounded-full bg-tone`} />
      <span className="grid min-w-0">
        <span className="mono cut" title={tree.path}>
          {plainLine(tree.path.split('/').at(-1) ?? tree.path)}
        </span>
        <span className="cut text-12 text-text-3">{says.filter(Boolean).join(' · ')}</span>
      </span>
      <span className="text-12 text-text-3">
        {tree.last_modified === null ? '–' : formatBrief(now - tree.last_modified)}
      </span>
    </li>
  )
}

function DiskUsage({ resources }: { resources: Resources }) {
  const { total = null, ...folders } = resources.disk
  const sizes = Object.entries(folders).sort((one, other) => (other[1] ?? -1) - (one[1] ?? -1))
  const most = Math.max(1, ...sizes.map(([, bytes]) => bytes ?? 0))
  return (
    <section aria-label="Disk usage" className="flex flex-1 flex-col border-t border-line pb-3">
      <Head title="Disk usage">
        {total === null ? '' : `${resources.disk_complete ? '' : 'at least '}${formatBytes(total)} in all`}
      </Head>
      {/* Beside a longer panel its lines stand farther apart. */}
      <ul className="grid flex-1 auto-rows-[minmax(26px,1fr)] px-4">
        {sizes.map(([name, bytes]) => (
          <li key={name} className="grid grid-cols-[96px_minmax(0,1fr)_auto] items-center gap-3">
            <span className="cut text-text-2">{FOLDER_WORDS[name] ?? name}</span>
            <span
              aria-hidden="true"
              className="t-neutral block h-1.5 overflow-hidden rounded-[3px] bg-active"
            >
              <i
                className="block h-full rounded-[3px] bg-tone"
                style={{ width: `${((bytes ?? 0) / most) * 100}%` }}
              />
            </span>
            <b className="min-w-[72px] text-right medium">
              {bytes === null ? (
                <span className="font-normal text-text-3">on a server</span>
              ) : (
                formatBytes(bytes)
              )}
            </b>
          </li>
        ))}
      </ul>
    </section>
  )
}
