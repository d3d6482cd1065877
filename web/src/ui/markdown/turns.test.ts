// @vitest-environment jsdom

import { expect, test } from 'vitest'
import { isTimeLeft, spend, takeTurn } from './turns'

const nextFrame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))

function workHard(): void {
  const until = performance.now() + 10
  while (performance.now() < until);
}

test('what takes long is done one in a frame, in the order it was asked for', async () => {
  const done: string[] = []
  spend(workHard)
  expect(isTimeLeft()).toBe(false)
  for (const name of ['one', 'other']) {
    takeTurn(() => {
      workHard()
      done.push(name)
    })
  }
  const cancel = takeTurn(() => done.push('never'))
  await nextFrame() // in which there is no time left
  expect(done).toEqual([])
  await nextFrame()
  expect(done).toEqual(['one'])
  cancel()
  await nextFrame()
  expect(done).toEqual(['one', 'other'])
  await nextFrame()
  expect(done).toEqual(['one', 'other'])
  expect(isTimeLeft()).toBe(true)
})
