// The plays of a show as a graph. Loaded only when a show is looked at, because React Flow and dagre are heavy.

import {
  type CoordinateExtent,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { createContext, use, useEffect, useMemo } from 'react'
import type { PlayInShow } from '@/api/shows'
import { plainLine } from '@/lib/plain'
import { Icon } from '@/ui/Icon'
import { pillOf } from '@/vocabulary/playLooks'
import { drawGraph, type Edge as Wait } from './graphLayout'
import { hiddenSides, NODE, PADDING, type Side, textSizeAt, viewOf } from './graphSize'

type Kind = 'plain' | 'critical' | 'failed'
type PlayNode = Node<{ play: PlayInShow; isCritical: boolean }, 'play'>
type WaitEdge = Edge<{ path: string; kind: Kind; isCritical: boolean }, 'wait'>
type Pointing = { lit: string | null; onPoint: (name: string | null) => void; onOpen: (name: string) => void }

type Props = Pointing & {
  plays: readonly PlayInShow[]
  edges: readonly Wait[]
  criticalPath: readonly string[]
}

const PointingContext = createContext<Pointing>({ lit: null, onPoint: () => {}, onOpen: () => {} })
const NODE_TYPES = { play: PlayBox }
const EDGE_TYPES = { wait: WaitLine }

/** Who waits for whom. Pointing at a play lights its row, and pressing it opens the row. */
export default function PlayGraph({ lit, onPoint, onOpen, ...graph }: Props) {
  const pointing = useMemo(() => ({ lit, onPoint, onOpen }), [lit, onPoint, onOpen])
  return (
    <PointingContext value={pointing}>
      <ReactFlowProvider>
        <Drawing {...graph} />
      </ReactFlowProvider>
    </PointingContext>
  )
}

function Drawing({ plays, edges, criticalPath }: Omit<Props, keyof Pointing>) {
  // Live data changes the plays many times, but rarely who waits for whom: the picture stays where it is.
  const shape = JSON.stringify([plays.map((play) => play.name), edges])
  const drawing = useMemo(() => {
    const [names, waits] = JSON.parse(shape) as [string[], Wait[]]
    return drawGraph(names, waits)
  }, [shape])
  const width = useStore((state) => state.width)
  const height = useStore((state) => state.height)
  const flow = useReactFlow()
  const view = viewOf(drawing, { width, height }, startOf(drawing))
  const { x, y, zoom, fits } = view
  useEffect(() => {
    if (width > 0) void flow.setViewport({ x, y, zoom })
  }, [flow, width, x, y, zoom])
  // Nobody can lose it by panning.
  const extent = useMemo<CoordinateExtent>(() => {
    const air = PADDING / zoom
    return [
      [-air, -air],
      [drawing.width + air, drawing.height + air],
    ]
  }, [drawing, zoom])
  const nodes = useMemo(() => nodesOf(drawing, plays, criticalPath), [drawing, plays, criticalPath])
  const lines = useMemo(() => linesOf(drawing, plays, criticalPath), [drawing, plays, criticalPath])
  return (
    <>
      <Arrows />
      <ReactFlow<PlayNode, WaitEdge>
        aria-label="Dependency graph"
        nodes={nodes}
        edges={lines}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        minZoom={0.1}
        maxZoom={1}
        panOnDrag={!fits}
        translateExtent={extent}
        zoomOnScroll={false}
        zoomOnPinch={false}
        zoomOnDoubleClick={false}
        preventScrolling={false}
        disableKeyboardA11y
        proOptions={{ hideAttribution: true }}
        style={{ fontSize: textSizeAt(zoom) }}
      />
      <Fades drawing={drawing} />
    </>
  )
}

type Drawn = ReturnType<typeof drawGraph>

/** The middle of what stands at the left of a drawing. */
function startOf({ nodes }: Drawn): number {
  const first = nodes.reduce<Drawn['nodes'][number] | undefined>(
    (one, other) => (one !== undefined && one.x <= other.x ? one : other),
    undefined,
  )
  return (first?.y ?? 0) + NODE.height / 2
}

const FADES: Record<Side, string> = {
  left: 'inset-y-0 left-0 w-10 bg-linear-to-r',
  right: 'inset-y-0 right-0 w-10 bg-linear-to-l',
  top: 'inset-x-0 top-0 h-6 bg-linear-to-b',
  bottom: 'inset-x-0 bottom-0 h-6 bg-linear-to-t',
}

/** Where the drawing goes on, it fades. */
function Fades({ drawing }: { drawing: Drawn }) {
  const sides = useStore(({ width, height, transform: [x, y, zoom] }) =>
    width === 0 ? '' : hiddenSides(drawing, { width, height }, { x, y, zoom }).join(' '),
  )
  return (sides === '' ? [] : (sides.split(' ') as Side[])).map((side) => (
    <span
      key={side}
      data-fade={side}
      className={`pointer-events-none absolute from-surface to-transparent ${FADES[side]}`}
    />
  ))
}

function nodesOf(drawing: Drawn, plays: readonly PlayInShow[], critical: readonly string[]): PlayNode[] {
  const byName = new Map(plays.map((play) => [play.name, play]))
  return drawing.nodes.flatMap(({ name, x, y }) => {
    const play = byName.get(name)
    if (play === undefined) return []
    return [
      {
        id: name,
        type: 'play' as const,
        position: { x, y },
        width: NODE.width,
        height: NODE.height,
        style: { pointerEvents: 'all' as const },
        data: { play, isCritical: critical.includes(name) },
      },
    ]
  })
}

function linesOf(drawing: Drawn, plays: readonly PlayInShow[], critical: readonly string[]): WaitEdge[] {
  const failed = new Set(plays.filter((play) => play.badges.pill === 'failed').map((play) => play.name))
  const follows = new Set(critical.slice(1).map((name, index) => `${critical[index]}\n${name}`))
  return drawing.lines.map(({ from, to, path }) => {
    const isCritical = follows.has(`${from}\n${to}`)
    const kind: Kind = failed.has(from) ? 'failed' : isCritical ? 'critical' : 'plain'
    return {
      id: `${from}\n${to}`,
      type: 'wait',
      source: from,
      target: to,
      data: { path, kind, isCritical },
      zIndex: kind === 'plain' ? 0 : 1,
    }
  })
}

function PlayBox({ data: { play, isCritical } }: NodeProps<PlayNode>) {
  const { lit, onPoint, onOpen } = use(PointingContext)
  const flow = useReactFlow()
  const look = pillOf(play)
  const isCalm = play.badges.pill !== 'running' && play.badges.pill !== 'failed'
  const fill = isCalm ? 'bg-surface' : 'bg-tone-soft'
  const border = isCritical ? 'border-text' : isCalm ? 'border-line-strong' : 'border-tone-line'
  const showWhole = (element: HTMLElement) => {
    const [node, frame] = [element.getBoundingClientRect(), element.closest('.react-flow')]
    const room = frame?.getBoundingClientRect()
    if (room === undefined) return
    const { x, y, zoom } = flow.getViewport()
    const byX = missing(node.left, node.right, room.left, room.right)
    const byY = missing(node.top, node.bottom, room.top, room.bottom)
    if (byX !== 0 || byY !== 0) void flow.setViewport({ x: x + byX, y: y + byY, zoom })
  }
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} className="invisible" />
      <Handle type="source" position={Position.Right} isConnectable={false} className="invisible" />
      <button
        type="button"
        data-play={play.name}
        aria-label={`${plainLine(play.name)}, ${play.badges.pill}${isCritical ? ', on the critical path' : ''}`}
        className={`nopan t-${look.tone} flex size-full items-center gap-1.5 rounded-control border pr-2 pl-[7px] text-left leading-none medium shadow-1 ${fill} ${border} ${lit === play.name ? 'ring-2 ring-focus' : ''} ${play.badges.pill === 'completed' && !isCritical ? 'border-tone-line' : ''}`}
        onMouseEnter={() => onPoint(play.name)}
        onMouseLeave={() => onPoint(null)}
        onFocus={(event) => {
          onPoint(play.name)
          showWhole(event.currentTarget)
        }}
        onBlur={() => onPoint(null)}
        onClick={() => onOpen(play.name)}
      >
        <Icon name={look.icon} className="size-[1.16em] text-tone" />
        <span className="cut py-1">{plainLine(play.name)}</span>
      </button>
    </>
  )
}

const AIR = 48 // px between what is moved into sight and the edge, which may fade

/** How far something has to move to be seen whole. */
const missing = (from: number, to: number, least: number, most: number): number =>
  from < least ? least - from + AIR : to > most ? most - to - AIR : 0

const STROKES: Record<Kind, string> = {
  plain: 'stroke-line-control opacity-80',
  critical: 'stroke-text',
  failed: 't-danger stroke-tone',
}

function WaitLine({ data, source, target }: EdgeProps<WaitEdge>) {
  if (data === undefined) return null
  return (
    <path
      d={data.path}
      data-edge={`${source} to ${target}`}
      data-kind={data.kind}
      markerEnd={`url(#arrow-${data.kind})`}
      className={`fill-none ${STROKES[data.kind]}`}
      strokeWidth={data.isCritical ? 2.5 : 1.25}
      strokeDasharray={data.kind === 'failed' ? '4 3' : undefined}
    />
  )
}

const HEADS: Record<Kind, string> = {
  plain: 'fill-line-control',
  critical: 'fill-text',
  failed: 't-danger fill-tone',
}

function Arrows() {
  return (
    <svg className="absolute size-0" aria-hidden="true">
      <defs>
        {(['plain', 'critical', 'failed'] as const).map((kind) => (
          <marker
            key={kind}
            id={`arrow-${kind}`}
            viewBox="0 0 6 6"
            refX="4"
            refY="3"
            markerWidth="6"
            markerHeight="6"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0 6 3 0 6z" className={HEADS[kind]} />
          </marker>
        ))}
      </defs>
    </svg>
  )
}
