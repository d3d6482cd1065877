import type { EventFilter } from '@/api/admin'
import { Button } from '@/ui/Button'
import { SearchField, SelectField } from '@/ui/Field'
import { ACTION_WORDS } from './describeEvent'

type Props = { filter: EventFilter; onChange: (filter: EventFilter) => void }

/** What the log is narrowed to. It is all in the address. */
export function EventFilters({ filter, onChange }: Props) {
  const set = (name: keyof EventFilter, value: string) => {
    const { [name]: _, ...rest } = filter
    onChange(value.trim() === '' ? rest : { ...rest, [name]: value.trim() })
  }
  const isFiltered = Object.keys(filter).length > 0
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SelectField
        label="Action"
        value={filter.action ?? ''}
        onChange={(event) => set('action', event.target.value)}
      >
        <option value="">any</option>
        {Object.entries(ACTION_WORDS).map(([action, word]) => (
          <option key={action} value={action}>
            {word}
          </option>
        ))}
      </SelectField>
      <Typed
        label="Actor"
        placeholder="Actor, such as admin"
        value={filter.actor}
        onSet={(text) => set('actor', text)}
      />
      <Typed
        label="Target"
        placeholder="Target, the whole id"
        value={filter.target_id}
        onSet={(text) => set('target_id', text)}
      />
      {isFiltered ? (
        <Button look="ghost" size="small" onClick={() => onChange({})}>
          Clear filters
        </Button>
      ) : null}
    </div>
  )
}

type TypedProps = {
  label: string
  placeholder: string
  value: string | null | undefined
  onSet: (text: string) => void
}

/** A word that must be whole, so it is asked for when it is finished: by Enter, or when somebody goes on. */
function Typed({ label, placeholder, value, onSet }: TypedProps) {
  return (
    <SearchField
      key={value ?? ''}
      label={label}
      placeholder={placeholder}
      className="w-56"
      defaultValue={value ?? ''}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onSet(event.currentTarget.value)
      }}
      onBlur={(event) => {
        if (event.currentTarget.value.trim() !== (value ?? '')) onSet(event.currentTarget.value)
      }}
    />
  )
}
