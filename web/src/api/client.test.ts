import { expect, test } from 'vitest'
import { answerOf, StudioError } from './client'

const thrown = (error: unknown) => answerOf(Promise.reject(error)).catch((caught: unknown) => caught)

test('a line on which nobody answers is told as that', async () => {
  expect(await thrown(new TypeError('Failed to fetch'))).toMatchObject({
    code: 'unreachable',
    message: 'The studio does not answer.',
  })
})

test('an answer that is no answer of the studio is not told as none', async () => {
  const error = await thrown(new SyntaxError('Unexpected token < in JSON'))
  expect(error).toBeInstanceOf(StudioError)
  expect(error).toMatchObject({ code: 'unreadable' })
})

test.each([new DOMException('Given up', 'AbortError'), new RangeError('A fault of the page')])(
  '%s stays what it is',
  async (error) => {
    expect(await thrown(error)).toBe(error)
  },
)

test('what the server refuses is told in its words', async () => {
  const error = { code: 'busy', message: 'The database is busy.', hint: null, refusals: [] }
  const asked = answerOf(Promise.resolve({ error, response: new Response(null, { status: 503 }) }))
  await expect(asked).rejects.toMatchObject({ status: 503, code: 'busy', message: 'The database is busy.' })
})
