import { useMutation } from '@tanstack/react-query'
import type { ExportFormat } from '@/api/admin'
import { exportEverything } from '@/api/exports'
import { saveFile } from '@/lib/save'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Menu, MenuItem, MenuLine, MenuNote } from '@/ui/Menu'
import { toasts } from '@/ui/toasts'

/** Everything there is, as a file. Some of it is exported by choosing rows. */
export function ExportMenu() {
  const save = useMutation({
    mutationFn: (format: ExportFormat) => exportEverything(format),
    onSuccess: ({ file, name }) => {
      saveFile(file, name)
      toasts.done('Everything exported', name)
    },
    onError: (error) => toasts.failed('Nothing was exported', error.message),
  })
  return (
    <Menu
      trigger={
        <Button disabled={save.isPending}>
          <Icon name="export" size={14} />
          {save.isPending ? 'Exporting' : 'Export'}
        </Button>
      }
    >
      <MenuItem onSelect={() => save.mutate('jsonl')}>Everything, as JSON lines</MenuItem>
      <MenuItem onSelect={() => save.mutate('sqlite')}>Everything, as a database file</MenuItem>
      <MenuLine />
      <MenuNote>Select runs to export only those</MenuNote>
    </Menu>
  )
}
