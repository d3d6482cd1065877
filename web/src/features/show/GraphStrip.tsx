import { lazy, Suspense, useState } from 'react'
import type { ShowInFull } from '@/api/shows'
import { countOf } from '@/lib/numbers'
import { Button } from '@/ui/Button'
import { Panel } from '@/ui/Panel'
import { StackBar } from '@/ui/StackBar'
import { progressOf } from '@/vocabulary/playLooks'
import { DRAWN_AT_MOST, heightOf } from './graphSize'

const PlayGraph = lazy(() => import('./PlayGraph'))

type Props = {
  show: ShowInFull
  lit: string | null
  onPoint: (name: string | null) => void
  onOpen: (name: string) => void
}

/** Who waits for whom, above the table. Whether it is hidden is remembered for every show. */
export function GraphStrip({ show, lit, onPoint, onOpen }: Props) {
  const [isHidden, setHidden] = useState(() => localStorage.getItem('graph') === 'hidden')
  const toggle = () => {
    localStorage.setItem('graph', isHidden ? 'shown' : 'hidden')
    setHidden(!isHidden)
  }
  const merged = show.plays_by_status.merged ?? 0
  const isDrawn = show.play_count <= DRAWN_AT_MOST
  return (
    <Panel
      title="Dependency graph"
      beside={<CriticalPath names={show.critical_path} />}
      more={
        <>
          <StackBar parts={progressOf(show.plays_by_status)} className="mr-2 hidden w-[220px] wide:flex" />
          <span className="mr-2 hidden whitespace-nowrap text-text-2 wide:inline">
            {merged} of {show.play_count} merged
          </span>
          <Button look="ghost" size="small" aria-expanded={!isHidden} onClick={toggle}>
            {isHidden ? 'Show graph' : 'Hide graph'}
          </Button>
        </>
      }
      className={isHidden ? '[&>div]:border-b-0' : ''}
    >
      {isHidden ? null : isDrawn ? (
        <div data-graph className="relative" style={{ height: heightOf(show.play_count) }}>
          <Suspense>
            <PlayGraph
              plays={show.plays}
              edges={show.graph.edges}
              criticalPath={show.critical_path}
              lit={lit}
              onPoint={onPoint}
              onOpen={onOpen}
            />
          </Suspense>
        </div>
      ) : (
        <p className="px-4 py-3 text-text-2">
          {countOf(show.play_count, 'play')} are too many for a picture. The table has them all.
        </p>
      )}
    </Panel>
  )
}

function CriticalPath({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <span className="cut ml-1 flex items-center gap-1.5 text-12 text-text-3" title={names.join(' → ')}>
      <span aria-hidden="true" className="h-0.5 w-[18px] flex-none bg-text" />
      Critical path: {countOf(names.length, 'play')}
    </span>
  )
}
