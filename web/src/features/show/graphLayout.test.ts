import { expect, test } from 'vitest'
import { drawGraph } from './graphLayout'
import { heightOf, hiddenSides, NODE, textSizeAt, viewOf } from './graphSize'

const wait = (play: string, depends_on: string) => ({ play, depends_on })

test.each([
  [1, 112],
  [4, 112],
  [5, 160],
  [20, 160],
  [21, 220],
  [300, 220],
])('a show of %d plays gets a strip of %d px', (plays, height) => {
  expect(heightOf(plays)).toBe(height)
})

test('a play stands right of everything it waits for', () => {
  const { nodes } = drawGraph(['c', 'a', 'b'], [wait('b', 'a'), wait('c', 'b'), wait('c', 'a')])
  const x = Object.fromEntries(nodes.map((node) => [node.name, node.x]))
  expect(x.a).toBe(0)
  expect(x.b).toBeGreaterThanOrEqual(NODE.width)
  expect(x.c).toBeGreaterThanOrEqual((x.b ?? 0) + NODE.width)
})

test('no two plays cover each other', () => {
  const names = Array.from({ length: 30 }, (_, number) => `play-${number}`)
  const edges = names.slice(3).map((name, number) => wait(name, names[Math.floor(number / 2)] ?? 'play-0'))
  const { nodes, width, height } = drawGraph(names, edges)
  expect(nodes).toHaveLength(30)
  for (const one of nodes) {
    for (const other of nodes) {
      const isApart =
        one === other || Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height
      expect(isApart, `${one.name} and ${other.name}`).toBe(true)
    }
    expect(one.x + NODE.width).toBeLessThanOrEqual(width)
    expect(one.y + NODE.height).toBeLessThanOrEqual(height)
  }
})

test('a line passes straight between the plays that are in its way', () => {
  const { nodes, lines } = drawGraph(['a', 'b', 'c'], [wait('b', 'a'), wait('c', 'b'), wait('c', 'a')])
  const long = lines.find((line) => line.from === 'a' && line.to === 'c')
  const between = nodes.find((node) => node.name === 'b')
  const passes = Number(/ (-?[\d.]+)H/.exec(long?.path ?? '')?.[1])
  expect(Math.abs(passes - ((between?.y ?? 0) + NODE.height / 2))).toBeGreaterThan(NODE.height / 2)
})

test('a play that stands alone is in the middle of those it is tied to', () => {
  const { nodes } = drawGraph(
    ['schema', 'worker', 'ledger', 'gateway', 'docs', 'rollout'],
    [
      wait('worker', 'schema'),
      wait('ledger', 'schema'),
      wait('gateway', 'worker'),
      wait('gateway', 'ledger'),
      wait('docs', 'ledger'),
      wait('rollout', 'gateway'),
      wait('rollout', 'docs'),
    ],
  )
  const y = Object.fromEntries(nodes.map((node) => [node.name, node.y + NODE.height / 2]))
  const middle = (one = 0, other = 0) => (one + other) / 2
  expect([y.schema, y.rollout]).toEqual([middle(y.worker, y.ledger), middle(y.gateway, y.docs)])
  expect(Math.min(...nodes.map((node) => node.y))).toBe(0)
})

test('plays that wait for each other in a circle are drawn all the same', () => {
  const { nodes, lines } = drawGraph(['a', 'b'], [wait('a', 'b'), wait('b', 'a')])
  expect(nodes).toHaveLength(2)
  expect(lines).toHaveLength(2)
})

test('a small drawing is shown whole, in the middle, and never enlarged', () => {
  expect(viewOf({ width: 200, height: 40 }, { width: 1000, height: 112 })).toEqual({
    x: 400,
    y: 36,
    zoom: 1,
    fits: true,
  })
})

test('a large drawing becomes smaller until it fits', () => {
  const { zoom, fits } = viewOf({ width: 1250, height: 100 }, { width: 1020, height: 160 })
  expect([zoom, fits]).toEqual([0.8, true])
})

test('what is too large to be read whole begins at its left and is panned', () => {
  const { x, y, zoom, fits } = viewOf({ width: 9000, height: 900 }, { width: 1020, height: 220 })
  expect([x, y, fits]).toEqual([10, 10, false])
  expect(zoom).toBe(0.8)
})

test('a chain of 12 plays is as large as it can be read, not as small as it would fit', () => {
  const names = Array.from({ length: 12 }, (_, number) => `play-${number}`)
  const chain = drawGraph(
    names,
    names.slice(1).map((name, number) => wait(name, `play-${number}`)),
  )
  const { x, y, zoom, fits } = viewOf(chain, { width: 1170, height: 160 })
  expect([x, zoom, fits]).toEqual([10, 0.8, false])
  expect(y).toBe((160 - NODE.height * 0.8) / 2)
})

test('what stands at the left of a tall drawing is in sight', () => {
  const [drawing, place] = [
    { width: 900, height: 600 },
    { width: 1170, height: 220 },
  ]
  expect(viewOf(drawing, place, 300).y).toBe(220 / 2 - 300 * 0.8)
  expect(viewOf(drawing, place, 14).y).toBe(10)
  expect(viewOf(drawing, place, 586).y).toBe(220 - 600 * 0.8 - 10)
})

test('each side on which there is more is known', () => {
  const [drawing, place] = [
    { width: 2000, height: 100 },
    { width: 1000, height: 160 },
  ]
  expect(hiddenSides(drawing, place, { x: 10, y: 30, zoom: 0.8 })).toEqual(['right'])
  expect(hiddenSides(drawing, place, { x: -300, y: -5, zoom: 0.8 })).toEqual(['left', 'right', 'top'])
  expect(hiddenSides(drawing, place, { x: -610, y: 90, zoom: 0.8 })).toEqual(['left', 'bottom'])
})

test('names are never smaller than 11 px on the screen', () => {
  expect(textSizeAt(1)).toBe(12)
  expect(textSizeAt(0.8) * 0.8).toBeCloseTo(11)
})
