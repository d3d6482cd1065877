import { StudioError } from '@/api/client'
import { ErrorState } from '@/ui/states'

/** An error as the server told it, with a way to ask again. */
export function Trouble({ error, retry }: { error: Error; retry?: () => void }) {
  const told = error instanceof StudioError ? { hint: error.hint, code: error.code } : {}
  return <ErrorState message={error.message} {...told} {...(retry === undefined ? {} : { retry })} />
}
