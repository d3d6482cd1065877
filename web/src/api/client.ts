// How the pages ask the server. Nothing else in here knows HTTP.

import createClient from 'openapi-fetch'
import { setClock } from '@/lib/clock'
import type { components, paths } from './schema.gen'

export type Schema = components['schemas']

/** What the server says went wrong: what happened, and what to do next. */
export class StudioError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly refusals: Schema['Refusal'][] = [],
  ) {
    super(message)
  }
}

const client = createClient<paths>({ baseUrl: '/' })

export const GET = client.GET
export const POST = client.POST

type Answer<Data> = { data?: Data; error?: unknown; response: Response }

/** The data of an answer; throws StudioError. */
export async function answerOf<Data>(asked: Promise<Answer<Data>>): Promise<Data> {
  let answer: Answer<Data>
  try {
    answer = await asked
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new StudioError(
        0,
        'unreadable',
        'What answered was not the studio, or it was cut off.',
        'If something stands between this page and the studio, look there; else load the page again.',
      )
    // So a browser says that nobody answered. Whatever else was thrown is a fault of this page, and says so itself.
    if (!(error instanceof TypeError)) throw error
    throw new StudioError(0, 'unreachable', 'The studio does not answer.', 'Start it again: li studio')
  }
  setClock(answer.response.headers.get('date'))
  if (answer.data !== undefined) return answer.data
  if (answer.response.status === 401) location.assign('/login')
  const body = answer.error as Partial<Schema['ErrorBody']> | undefined
  throw new StudioError(
    answer.response.status,
    body?.code ?? 'unknown',
    body?.message ?? `The studio answered ${answer.response.status}.`,
    body?.hint ?? null,
    body?.refusals ?? [],
  )
}
