// Short news at the lower right about what cannot be seen on the page. Good news goes by itself, trouble stays.

import { Toast } from '@base-ui/react/toast'
import type { ReactNode } from 'react'
import { Button, IconButton } from './Button'
import { Icon, type IconName } from './Icon'

type Extra = { action?: { label: string; onClick: () => void } }
type Kind = 'done' | 'failed' | 'working'

const LOOKS: Record<Kind, { tone: string; icon: IconName }> = {
  done: { tone: 't-success', icon: 'completed' },
  failed: { tone: 't-danger', icon: 'failed' },
  working: { tone: 't-info', icon: 'running' },
}
const STAYS = 0
const SECONDS_6 = 6000

const manager = Toast.createToastManager<Extra>()

function show(type: Kind, title: string, description: ReactNode, extra: Extra): string {
  return manager.add({
    type,
    title,
    description,
    timeout: type === 'done' ? SECONDS_6 : STAYS,
    priority: type === 'failed' ? 'high' : 'low',
    data: extra,
  })
}

/** Say something from anywhere. `working` gives an id, for `close` when it is over. */
export const toasts = {
  done: (title: string, text?: ReactNode, extra: Extra = {}) => show('done', title, text, extra),
  failed: (title: string, text?: ReactNode, extra: Extra = {}) => show('failed', title, text, extra),
  working: (title: string, text?: ReactNode) => show('working', title, text, {}),
  close: (id: string) => manager.close(id),
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager} limit={4}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 grid w-[360px] max-w-[calc(100vw-32px)] gap-2">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts: all } = Toast.useToastManager<Extra>()
  return all.map((toast) => {
    const look = LOOKS[(toast.type as Kind | undefined) ?? 'done']
    const action = toast.data?.action
    return (
      <Toast.Root
        key={toast.id}
        toast={toast}
        className={`${look.tone} flex items-start gap-2.5 rounded-panel border border-line-strong bg-raised py-[11px] pr-2.5 pl-3.5 shadow-2`}
      >
        <Icon name={look.icon} className="mt-0.5 text-tone" />
        <Toast.Content className="min-w-0 flex-1 break-words">
          <Toast.Title className="medium" render={<p />} />
          <Toast.Description className="mt-px text-12 text-text-2" render={<div />} />
        </Toast.Content>
        {action === undefined ? null : (
          <Button look="ghost" size="small" onClick={action.onClick}>
            {action.label}
          </Button>
        )}
        <Toast.Close
          render={
            <IconButton title="Close" className="size-6">
              <Icon name="close" size={12} />
            </IconButton>
          }
        />
      </Toast.Root>
    )
  })
}
