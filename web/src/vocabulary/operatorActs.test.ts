import { expect, test } from 'vitest'
import { offerOf } from './operatorActs'

test('beside a look the first thing is offered that the server names', () => {
  expect(offerOf(['inspect', 'repair', 'transition'])).toBe('repair')
  expect(offerOf(['inspect', 'cleanup', 'prune'])).toBe('cleanup')
  expect(offerOf(['inspect', 'logs'])).toBe('logs')
  expect(offerOf(['inspect', 'transition'])).toBe('transition')
})

test('a run that is well, and a thing that is no run, offer no more than a look', () => {
  expect(offerOf(['inspect'])).toBeNull()
  expect(offerOf([])).toBeNull()
})
