import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { type Health, healthQuery } from '@/api/admin'
import { ActionRow } from '@/features/admin/ActionRow'
import { EventPanel } from '@/features/admin/EventPanel'
import { HealthPanel } from '@/features/admin/HealthPanel'
import { MaintenancePanel } from '@/features/admin/MaintenancePanel'
import { Queue } from '@/features/admin/Queue'
import { ResourcesPanel } from '@/features/admin/ResourcesPanel'
import { SystemStrip } from '@/features/admin/SystemStrip'
import { Page } from '@/features/shell/Page'
import { Panel } from '@/ui/Panel'
import { Skeleton } from '@/ui/states'
import { Trouble } from '@/vocabulary/Trouble'
import { TransitionPlace } from '@/vocabulary/transitioning'

const ROWS = 100
const MORE_ROWS = 400

export const Route = createFileRoute('/admin/')({ component: AdminPage })

function AdminPage() {
  const [rows, setRows] = useState(ROWS)
  const [asked, setAsked] = useState<string[]>([])
  const health = useQuery(healthQuery(rows))
  return (
    <Page title="Admin">
      <ActionRow
        health={health.data}
        isFetching={health.isFetching}
        onRefresh={() => void health.refetch()}
      />
      {health.isPending ? <Loading /> : null}
      {health.error ? (
        <Panel>
          <Trouble error={health.error} retry={() => void health.refetch()} />
        </Panel>
      ) : null}
      {health.data === undefined ? null : (
        <TransitionPlace value={(ids) => setAsked([...ids])}>
          <Console
            health={health.data}
            asked={asked}
            onAsked={setAsked}
            onMore={() => setRows(rows + MORE_ROWS)}
          />
        </TransitionPlace>
      )}
    </Page>
  )
}

type Props = { health: Health; asked: string[]; onAsked: (ids: string[]) => void; onMore: () => void }

function Console({ health, asked, onAsked, onMore }: Props) {
  // An idle run is alive and only quiet: it is counted above, and needs nobody.
  const rows = health.sessions.unhealthy.filter((row) => row.health !== 'idle')
  const total = health.sessions.unhealthy_total - (health.sessions.by_health.idle ?? 0)
  return (
    <>
      <SystemStrip health={health} />
      <Pair>
        <HealthPanel health={health} className="@min-[960px]:col-span-7" />
        <MaintenancePanel health={health} className="@min-[960px]:col-span-5" />
      </Pair>
      <Queue rows={rows} total={total} onMore={onMore} asked={asked} onAsked={onAsked} />
      <Pair>
        <ResourcesPanel resources={health.resources} className="@min-[960px]:col-span-6" />
        <EventPanel className="@min-[960px]:col-span-6" />
      </Pair>
    </>
  )
}

/** Two panels side by side where there is room for both, whether the sidebar is wide or a rail. */
function Pair({ children }: { children: ReactNode }) {
  return (
    <div className="@container">
      <div className="grid gap-4 @min-[960px]:grid-cols-12">{children}</div>
    </div>
  )
}

function Loading() {
  return (
    <>
      <Panel>
        <Skeleton rows={1} height={34} />
      </Panel>
      <Pair>
        <Panel title="Session health" className="@min-[960px]:col-span-7">
          <Skeleton rows={6} height={34} />
        </Panel>
        <Panel title="Maintenance" className="@min-[960px]:col-span-5">
          <Skeleton rows={6} height={34} />
        </Panel>
      </Pair>
      <Panel title="Intervention queue">
        <Skeleton rows={6} />
      </Panel>
    </>
  )
}
