import type { RunFilter } from '@/api/runs'
import { SearchField, SelectField } from '@/ui/Field'
import { HEALTH_WORDS, KIND_WORDS, STATUS_WORDS } from '@/vocabulary/looks'

type Props = { filter: RunFilter; onChange: (filter: RunFilter) => void }

/** What the list is narrowed to. It is all in the address, so that a list can be sent to somebody. */
export function RunFilters({ filter, onChange }: Props) {
  const set = (name: keyof RunFilter, value: string) =>
    onChange({ ...filter, [name]: value === '' ? undefined : value })
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchField
        label="Search runs"
        placeholder="Filter by words in id, name, agent, playbook, show"
        className="w-80"
        defaultValue={filter.search ?? ''}
        onChange={(event) => set('search', event.target.value)}
      />
      <Words
        label="Status"
        words={STATUS_WORDS}
        value={filter.status ?? ''}
        onChange={(word) => set('status', word)}
      />
      <Words
        label="Health"
        words={HEALTH_WORDS}
        value={filter.health ?? ''}
        onChange={(word) => set('health', word)}
      />
      <Words
        label="Kind"
        words={KIND_WORDS}
        value={filter.kind ?? ''}
        onChange={(word) => set('kind', word)}
      />
    </div>
  )
}

type WordsProps = {
  label: string
  words: Record<string, string>
  value: string
  onChange: (word: string) => void
}

function Words({ label, words, value, onChange }: WordsProps) {
  return (
    <SelectField label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">any</option>
      {Object.entries(words).map(([word, text]) => (
        <option key={word} value={word}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}
