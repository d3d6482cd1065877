// Exports as files. The browser keeps large ones on disk while they come.

import type { ExportFormat } from './admin'
import { answerOf, GET, POST } from './client'

export type Exported = { name: string; file: Blob }

type Answer = { data?: unknown; error?: unknown; response: Response }

async function fileOf(asked: Promise<Answer>): Promise<Exported> {
  let name = 'export'
  const file = await answerOf(
    asked.then(({ data, error, response }) => {
      name = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? name
      return { ...(data instanceof Blob ? { data } : {}), error, response }
    }),
  )
  return { name, file }
}

export const exportEverything = (format: ExportFormat): Promise<Exported> =>
  fileOf(GET('/api/admin/export', { params: { query: { format } }, parseAs: 'blob' }))

export const exportSessions = (ids: readonly string[], format: ExportFormat = 'jsonl'): Promise<Exported> =>
  fileOf(POST('/api/admin/export', { body: { session_ids: [...ids], format }, parseAs: 'blob' }))

export const exportLegacy = (): Promise<Exported> =>
  fileOf(GET('/api/admin/legacy/export', { parseAs: 'blob' }))
