import { useEffect, useRef, useState } from 'react'
import type { RunSearch } from '@/api/runList'
import { formatWhole } from '@/lib/time'
import { Icon } from '@/ui/Icon'
import { FIELD_LABELS, type Field, wordsOf } from './search'

type Props = {
  field: Field
  value: RunSearch[Field]
  /** It was just put there, and waits for its word. */
  isNew: boolean
  onChange: (value: string) => void
  onRemove: () => void
}

/** One filter: what it is about, its word, and a way to take it away. The word can be changed where it stands. */
export function FilterToken({ field, value, isNew, onChange, onRemove }: Props) {
  const label = FIELD_LABELS[field]
  const words = wordsOf(field)
  const edge = isNew ? 'border-dashed border-line-control' : 'border-line-strong'
  return (
    <span
      className={`inline-flex h-6 flex-none items-center rounded-control border bg-surface text-12 ${edge}`}
    >
      {words === null ? (
        <NameWord label={label} value={value ?? ''} isNew={isNew} onChange={onChange} onRemove={onRemove} />
      ) : (
        <ChosenWord label={label} words={words} value={value ?? ''} isNew={isNew} onChange={onChange} />
      )}
      <button
        type="button"
        aria-label={`Remove the filter ${label}`}
        onClick={onRemove}
        className="inline-grid h-full w-6 place-items-center border-l border-line text-text-3 hover:bg-active hover:text-text"
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  )
}

type WordProps = { label: string; value: string | number; isNew: boolean; onChange: (value: string) => void }

function ChosenWord({ label, words, value, isNew, onChange }: WordProps & { words: Record<string, string> }) {
  const select = useFocusWhenNew<HTMLSelectElement>(isNew)
  return (
    <label className="relative flex h-full items-center">
      <span className="pl-2 text-text-3">{label}</span>
      <select
        ref={select}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="h-full cursor-pointer appearance-none [field-sizing:content] rounded-control bg-transparent pr-5 pl-1.5 medium text-text"
      >
        {value === '' ? <option value="">choose</option> : null}
        {typeof value === 'number' ? <option value={value}>{formatWhole(value)}</option> : null}
        {Object.entries(words).map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} className="pointer-events-none absolute right-1 text-text-3" />
    </label>
  )
}

function NameWord({ label, value, isNew, onChange, onRemove }: WordProps & { onRemove: () => void }) {
  const input = useFocusWhenNew<HTMLInputElement>(isNew)
  const [text, setText] = useState(String(value))
  const finish = (): void => {
    if (text.trim() === '') onRemove()
    else if (text !== value) onChange(text)
  }
  return (
    <label className="flex h-full items-center">
      <span className="pl-2 text-text-3">{label}</span>
      <input
        ref={input}
        value={text}
        placeholder="exact name"
        onChange={(event) => setText(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === 'Enter') finish()
          if (event.key === 'Escape') isNew ? onRemove() : setText(String(value))
        }}
        style={{ width: `${Math.min(Math.max(text.length, 10), 28)}ch` }}
        className="mx-2 h-5 rounded-chip bg-transparent px-0.5 medium text-text placeholder:font-normal placeholder:text-text-3"
      />
    </label>
  )
}

function useFocusWhenNew<Field extends HTMLElement>(isNew: boolean) {
  const field = useRef<Field>(null)
  useEffect(() => {
    if (isNew) field.current?.focus()
  }, [isNew])
  return field
}
