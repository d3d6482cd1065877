import { useMutation, useQueryClient } from '@tanstack/react-query'
import { adminKeys } from '@/api/admin'
import { StudioError } from '@/api/client'
import type { Exported } from '@/api/exports'
import { formatBytes } from '@/lib/numbers'
import { saveFile } from '@/lib/save'
import { toasts } from '@/ui/toasts'

type Said = { title: string; text?: string }
type Act<Done> = {
  /** What goes on while it goes on. */
  working: string
  act: () => Promise<Done>
  done: (done: Done) => Said
  /** What could not be done. */
  failed: string
  onDone?: (done: Done) => void
}

/** Something that may take long: it says that it works, then what came of it, and the page stays usable meanwhile. */
export function useAct<Done>({ working, act, done, failed, onDone }: Act<Done>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const toast = toasts.working(working)
      try {
        return await act()
      } finally {
        toasts.close(toast)
      }
    },
    onSuccess: (answer) => {
      const said = done(answer)
      toasts.done(said.title, said.text)
      onDone?.(answer)
      void queries.invalidateQueries({ queryKey: adminKeys.all })
    },
    onError: (error) => {
      const hint = error instanceof StudioError ? error.hint : null
      toasts.failed(failed, [error.message, hint].filter(Boolean).join(' '))
      void queries.invalidateQueries({ queryKey: adminKeys.all })
    },
  })
}

/** An export that ends as a file on the disk of whoever looks. */
export function useExport(what: string, act: () => Promise<Exported>) {
  return useAct({
    working: `Exporting ${what}`,
    act,
    done: ({ name, file }) => {
      saveFile(file, name)
      return { title: `Exported ${what}`, text: `${name}, ${formatBytes(file.size)}` }
    },
    failed: `Could not export ${what}`,
  })
}
