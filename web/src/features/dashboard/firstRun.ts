// What to type for a first run. Tests type it.

import type { Stats } from '@/api/dashboard'

export const PYTHON = `import lionstudio

with lionstudio.record("triage", agent="architect") as run:
    run.user("Find the failing test")
    run.assistant("It is test_parse.")`

const sessions = `${globalThis.location?.origin ?? ''}/api/sessions`

export const CURL = `curl -sS ${sessions} \\
  --json '{"id": "night-1", "name": "nightly", "agent": "builder"}'
curl -sS ${sessions}/night-1/messages \\
  --json '{"role": "user", "content": "Build it"}'
curl -sS ${sessions}/night-1/finish \\
  --json '{"exit_code": 0}'`

/** Whether nothing was ever recorded or brought in. */
export function isFresh(stats: Stats): boolean {
  return (
    stats.running === 0 &&
    stats.recent.length === 0 &&
    stats.legacy === 0 &&
    stats.attention.total === 0 &&
    stats.shows_active === 0 &&
    stats.teams_active === 0
  )
}
