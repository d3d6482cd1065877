// Where each play of a show stands in its graph, and how the lines between them run. Pure: the same plan always gives
// the same picture.

import { Graph, layout } from '@dagrejs/dagre'
import { NODE } from './graphSize'

export type Edge = { play: string; depends_on: string }
export type Placed = { name: string; x: number; y: number }
export type Line = { from: string; to: string; path: string }
export type Drawing = { nodes: Placed[]; lines: Line[]; width: number; height: number }

type Point = { x: number; y: number }

const BETWEEN_RANKS = 43
const BETWEEN_NODES = 10
const NEAR = 1 // px: two numbers that mean the same place

/** A drawing from left to right, each play right of everything it waits for. */
export function drawGraph(names: readonly string[], edges: readonly Edge[]): Drawing {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', ranksep: BETWEEN_RANKS, nodesep: BETWEEN_NODES, ranker: 'network-simplex' })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const name of names) graph.setNode(name, { width: NODE.width, height: NODE.height })
  for (const edge of edges) graph.setEdge(edge.depends_on, edge.play)
  layout(graph)
  const centres = new Map(names.map((name) => [name, pointOf(graph.node(name))]))
  const ranks = [...new Set([...centres.values()].map((centre) => centre.x))]
  // dagre bends a line at every rank it passes; what it says about the gaps between them is not needed.
  const bendsOf = (edge: Edge): Point[] => {
    const bends = (graph.edge(edge.depends_on, edge.play)?.points ?? []) as Point[]
    return bends.slice(1, -1).filter((bend) => ranks.some((x) => Math.abs(x - bend.x) < NEAR))
  }
  const passed = new Map(edges.map((edge) => [edge, bendsOf(edge)]))
  centreLoners(centres, edges, [...passed.values()].flat())
  raise([...centres.values(), ...[...passed.values()].flat()])
  const nodes = [...centres].map(([name, centre]) => ({
    name,
    x: centre.x - NODE.width / 2,
    y: centre.y - NODE.height / 2,
  }))
  const lines = edges.flatMap((edge) => {
    const [from, to] = [centres.get(edge.depends_on), centres.get(edge.play)]
    if (from === undefined || to === undefined) return []
    return [{ from: edge.depends_on, to: edge.play, path: pathThrough(from, passed.get(edge) ?? [], to) }]
  })
  return {
    nodes,
    lines,
    width: Math.max(0, ...nodes.map((node) => node.x + NODE.width)),
    height: Math.max(0, ...nodes.map((node) => node.y + NODE.height)),
  }
}

/** A play that has its rank to itself stands in the middle of those it is tied to; dagre leaves it to one side. */
function centreLoners(centres: Map<string, Point>, edges: readonly Edge[], bends: readonly Point[]): void {
  const all = [...centres.values(), ...bends]
  for (const [name, centre] of centres) {
    if (all.some((other) => other !== centre && Math.abs(other.x - centre.x) < NEAR)) continue
    const tied = edges
      .filter((edge) => edge.play === name || edge.depends_on === name)
      .map((edge) => centres.get(edge.play === name ? edge.depends_on : edge.play)?.y)
      .filter((y) => y !== undefined)
    if (tied.length > 0) centre.y = (Math.min(...tied) + Math.max(...tied)) / 2
  }
}

/** The uppermost of them begins at the upper edge, so that the drawing can be centred by its height. */
function raise(points: readonly Point[]): void {
  const top = Math.min(...points.map((point) => point.y)) - NODE.height / 2
  for (const point of new Set(points)) point.y -= top
}

const pointOf = (node: unknown): Point => {
  const { x, y } = node as Point
  return { x, y }
}

/** From the right of one node to the left of another: curves in the gaps, straight past the nodes between them. */
function pathThrough(from: Point, passed: readonly Point[], to: Point): string {
  const half = NODE.width / 2
  let [x, y] = [from.x + half, from.y]
  let path = `M${x} ${y}`
  for (const bend of passed) {
    path += `${curve(x, y, bend.x - half, bend.y)}H${bend.x + half}`
    x = bend.x + half
    y = bend.y
  }
  return path + curve(x, y, to.x - half - 4, to.y) // room for the arrow head
}

function curve(x: number, y: number, toX: number, toY: number): string {
  const middle = (x + toX) / 2
  return `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`
}
