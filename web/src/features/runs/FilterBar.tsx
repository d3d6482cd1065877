import { useRef, useState } from 'react'
import type { RunSearch } from '@/api/runList'
import { useKeys } from '@/lib/keys'
import { Button } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Menu, MenuItem } from '@/ui/Menu'
import { SORT_WORDS } from '@/vocabulary/looks'
import { FilterToken } from './FilterToken'
import { NewsButton } from './NewsButton'
import { FIELD_LABELS, FIELDS, type Field, isFiltered, withFilter } from './search'
import { TABS, tabOf } from './ViewTabs'
import { WordsField } from './WordsField'
import type { News } from './watching'

type Props = {
  search: RunSearch
  news: News
  /** `isTyping`: one of many letters, which are one step back together. */
  onChange: (search: RunSearch, isTyping?: boolean) => void
  onTake: () => void
}

/** What the list is narrowed to. It is all in the address, so that a list can be sent to somebody. */
export function FilterBar({ search, news, onChange, onTake }: Props) {
  const [added, setAdded] = useState<readonly Field[]>([])
  const words = useRef<HTMLDivElement>(null)
  useKeys({ '/': { does: 'Filter', act: () => words.current?.querySelector('input')?.focus() } }, 'Runs')
  const isTab = (field: Field) => field === 'status' && TABS[tabOf(search)]?.search.status !== undefined
  const shown = FIELDS.filter(
    (field) => (search[field] !== undefined && !isTab(field)) || added.includes(field),
  )
  const forget = (field: Field) => setAdded(added.filter((one) => one !== field))
  const set = (field: Field, value: string | undefined): void => {
    forget(field)
    if (value !== undefined || search[field] !== undefined) onChange(withFilter(search, field, value))
  }
  const { sort } = search
  return (
    <div className="flex min-h-8 items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
        <WordsField
          ref={words}
          value={search.search ?? ''}
          onChange={(text) => onChange(withFilter(search, 'search', text || undefined), true)}
        />
        {shown.map((field) => (
          <FilterToken
            // A name is typed; it begins anew when Back brings another one.
            key={`${field} ${search[field] ?? ''}`}
            field={field}
            value={search[field]}
            isNew={search[field] === undefined}
            onChange={(value) => set(field, value)}
            onRemove={() => set(field, undefined)}
          />
        ))}
        <Menu
          align="start"
          trigger={
            <button
              type="button"
              className="inline-flex h-6 items-center gap-1 rounded-control border border-dashed border-line-control px-2 text-12 medium text-text-2 hover:bg-active hover:text-text"
            >
              <Icon name="plus" size={12} />
              Filter
            </button>
          }
        >
          {FIELDS.filter((field) => !shown.includes(field) && !isTab(field)).map((field) => (
            <MenuItem key={field} onSelect={() => setAdded([...added, field])}>
              {FIELD_LABELS[field]}
            </MenuItem>
          ))}
        </Menu>
        {isFiltered(search) || added.length > 0 ? (
          <Button
            look="ghost"
            size="small"
            onClick={() => {
              setAdded([])
              onChange(sort === undefined ? {} : { sort })
            }}
          >
            Clear
          </Button>
        ) : null}
      </div>
      <div className="flex h-7 flex-none items-center gap-2">
        <NewsButton news={news} onTake={onTake} />
        <Menu
          trigger={
            <button
              type="button"
              aria-label={`Order: ${SORT_WORDS[sort ?? 'active']}`}
              className="-mr-1.5 inline-flex h-6 items-center gap-1 rounded-control px-1.5 text-12 text-text-3 hover:bg-active hover:text-text"
            >
              <span className="hidden wide:inline">{SORT_WORDS[sort ?? 'active']}</span>
              <span className="wide:hidden">Order</span>
              <Icon name="down" size={12} />
            </button>
          }
        >
          {Object.entries(SORT_WORDS).map(([word, text]) => (
            <MenuItem key={word} onSelect={() => onChange(withFilter(search, 'sort', word))}>
              <span className="grid w-4 place-items-center">
                {word === (sort ?? 'active') ? <Icon name="check" size={14} /> : null}
              </span>
              {text}
            </MenuItem>
          ))}
        </Menu>
      </div>
    </div>
  )
}
