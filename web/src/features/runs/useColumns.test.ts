import { expect, test } from 'vitest'
import { readColumns, withoutWide } from './useColumns'

test('what a browser kept is read as far as it makes sense', () => {
  expect(readColumns('{"kind": false, "tokens": true, "name": false, "size": "no"}')).toEqual({
    kind: false,
    activity: true,
    size: true,
    tokens: true,
    cost: false,
    updated: true,
  })
  expect(readColumns('nonsense')).toEqual(readColumns(null))
  expect(readColumns('[]')).toEqual(readColumns(null))
})

test('a narrow window has no room for kind and size', () => {
  const { kind, size, activity, updated } = withoutWide(readColumns(null))
  expect({ kind, size, activity, updated }).toEqual({
    kind: false,
    size: false,
    activity: true,
    updated: true,
  })
})
