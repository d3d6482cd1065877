// Who may import whom. A page can be understood, moved and deleted alone, because no page reaches into another.

import { expect, test } from 'vitest'

const KIT = ['ui', 'lib']
const WORDS = ['vocabulary', 'api', ...KIT]
const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  ui: ['lib'],
  api: ['lib'],
  vocabulary: ['api', ...KIT],
  actions: WORDS,
  features: ['actions', ...WORDS],
  routes: ['features', 'actions', ...WORDS],
}

const sources = import.meta.glob<string>('../*/**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const IMPORTED = /(?:from|import)\s*\(?\s*'([^']+)'/g

/** The path of what is imported, from the folder of the sources; null for what comes from elsewhere. */
function resolve(importer: string, imported: string): string | null {
  if (imported.startsWith('@/')) return imported.slice(2)
  if (!imported.startsWith('.')) return null
  return new URL(imported, `file:///${importer}`).pathname.slice(1)
}

/** The room of a file; each page is one of its own. */
const roomOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('features/') ? 2 : 1)
    .join('/')

function isAllowed(from: string, to: string): boolean {
  if (roomOf(from) === roomOf(to)) return true
  const [room = '', target = ''] = [from.split('/')[0], to.split('/')[0]]
  return MAY_IMPORT[room]?.includes(target) ?? false
}

const imports = Object.entries(sources)
  .map(([path, text]) => ({ path: path.replace('../', ''), text }))
  .filter(({ path }) => path.split('/')[0] !== 'test' && !/\.test\.tsx?$/.test(path))
  .flatMap(({ path, text }) =>
    [...text.matchAll(IMPORTED)].flatMap(([, imported = '']) => {
      const to = resolve(path, imported)
      return to === null ? [] : [{ from: path, to }]
    }),
  )

test('imports go downwards, and no page imports another', () => {
  expect(imports.length).toBeGreaterThan(500) // else they were not found
  expect(imports.filter(({ from, to }) => !isAllowed(from, to))).toEqual([])
})

test.each([
  ['features/run/RunView.tsx', 'features/transcript/Transcript', false],
  ['features/run/RunView.tsx', 'features/runs/search', false],
  ['features/run/RunView.tsx', 'features/run/lanes', true],
  ['actions/useAct.ts', 'features/admin/Queue', false],
  ['ui/Panel.tsx', 'vocabulary/looks', false],
  ['vocabulary/looks.ts', 'ui/Icon', true],
  ['elsewhere/new.ts', 'lib/time', false],
])('%s imports %s: %s', (from, to, expected) => {
  expect(isAllowed(from, to)).toBe(expected)
})
