import { checkpoint, runDoctor } from '@/api/admin'
import { StudioError } from '@/api/client'
import { countOf, formatBytes } from '@/lib/numbers'
import { switchTheme } from '@/lib/theme'
import { copyAndSay } from '@/ui/copying'
import type { IconName } from '@/ui/Icon'
import { toasts } from '@/ui/toasts'

/** What only the frame can do. */
export type ShellActs = { onHelp: () => void; onSidebar: () => void }

/** What asks before it acts is a page to go to. */
export type Action = { label: string; icon: IconName; hint: string } & (
  | { act: () => void }
  | { href: string }
)

export const actionsOf = ({ onHelp, onSidebar }: ShellActs): Action[] => [
  { label: 'Switch theme', icon: 'moon', hint: 'T', act: switchTheme },
  {
    label: 'Copy link to this page',
    icon: 'link',
    hint: '',
    act: () => void copyAndSay(location.href, 'Link copied'),
  },
  { label: 'Narrow or wide sidebar', icon: 'sidebar', hint: '[', act: onSidebar },
  { label: 'Keyboard help', icon: 'keyboard', hint: '?', act: onHelp },
  { label: 'Checkpoint WAL', icon: 'database', hint: 'Admin', act: () => void checkpointNow() },
  { label: 'Run doctor now', icon: 'refresh', hint: 'Admin', act: () => void examineNow() },
  { label: 'Vacuum DB', icon: 'database', hint: 'Admin', href: '/admin' },
  { label: 'Prune runs…', icon: 'database', hint: 'Admin', href: '/admin' },
  { label: 'Export snapshot', icon: 'download', hint: 'Admin', href: '/admin' },
  { label: 'Event log', icon: 'info', hint: 'Admin', href: '/admin/events' },
]

async function checkpointNow(): Promise<void> {
  await tell('The checkpoint was not made', async () => {
    const done = await checkpoint()
    const sizes = `WAL was ${formatBytes(done.wal_bytes_before)}, is ${formatBytes(done.wal_bytes_after)}.`
    if (done.busy) toasts.failed('The checkpoint is not complete', `Somebody is reading. ${sizes}`)
    else toasts.done('Checkpoint made', sizes)
  })
}

async function examineNow(): Promise<void> {
  await tell('The doctor could not look', async () => {
    const { looked_at, changed } = await runDoctor()
    toasts.done(
      `The doctor looked at ${countOf(looked_at, 'run')}`,
      changed === 0
        ? 'All are doing as before.'
        : `${countOf(changed, 'run is', 'runs are')} doing otherwise than before.`,
    )
  })
}

async function tell(title: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof StudioError)) throw error
    toasts.failed(title, [error.message, error.hint].filter((part) => part !== null).join(' '))
  }
}
