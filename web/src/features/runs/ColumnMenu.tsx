import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Menu, MenuCheck, MenuLine, MenuNote } from '@/ui/Menu'
import { type Columns, OPTIONAL_COLUMNS, type OptionalColumn } from './useColumns'

type Props = {
  chosen: Columns
  onChange: (column: OptionalColumn, isShown: boolean) => void
  isWide: boolean
}

/** Which columns are shown. Name and state always are: without them a row says nothing. */
export function ColumnMenu({ chosen, onChange, isWide }: Props) {
  return (
    <Menu
      trigger={
        <Button>
          <Icon name="columns" size={14} />
          Columns
        </Button>
      }
    >
      {Object.entries(OPTIONAL_COLUMNS).map(([column, label]) => (
        <MenuCheck
          key={column}
          checked={chosen[column as OptionalColumn]}
          onChange={(isShown) => onChange(column as OptionalColumn, isShown)}
        >
          {label}
        </MenuCheck>
      ))}
      <MenuLine />
      <MenuNote>{isWide ? 'Saved for this browser' : 'Some need a wider window'}</MenuNote>
    </Menu>
  )
}
