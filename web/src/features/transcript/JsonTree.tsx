import { useState } from 'react'
import { countOf } from '@/lib/numbers'
import { plainText } from '@/lib/plain'
import { Icon } from '@/ui/Icon'
import { pretty } from './reading'
import { has, useSought } from './sought'

const SHOWN = 50 // entries of one level before one asks for more
const LONGEST = 500 // characters of a text, the same
const OPEN_LEVELS = 1

type Entry = [name: string, value: unknown]

const entriesOf = (value: object): Entry[] =>
  Array.isArray(value) ? value.map((item, at): Entry => [String(at), item]) : Object.entries(value)

/** A value to look into. What is closed is not drawn, so that a huge one costs nothing. */
export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="json">
      {typeof value === 'object' && value !== null ? (
        <Entries value={value} level={0} />
      ) : (
        <Leaf value={value} />
      )}
    </div>
  )
}

function Entries({ value, level }: { value: object; level: number }) {
  const [count, setCount] = useState(SHOWN)
  const entries = entriesOf(value)
  const left = entries.length - count
  const within = (words: string) =>
    entries.findIndex(([name, child]) => has(`${name} ${pretty(child)}`, words))
  useSought(
    (words) => within(words) >= count,
    () => setCount(entries.length),
  )
  return (
    <ul>
      {entries.slice(0, count).map(([name, child]) => (
        <li key={name} className="min-w-0 pl-3.5">
          <Node name={name} value={child} level={level} />
        </li>
      ))}
      {left > 0 ? (
        <li className="pl-3.5">
          <button type="button" className="json-more" onClick={() => setCount(count + 10 * SHOWN)}>
            Show {Math.min(left, 10 * SHOWN)} more
          </button>
        </li>
      ) : null}
    </ul>
  )
}

function Node({ name, value, level }: { name: string; value: unknown; level: number }) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS)
  useSought(
    (words) => has(pretty(value), words),
    () => setOpen(true),
  )
  const label = <span className="json-name">{plainText(name)}: </span>
  if (typeof value !== 'object' || value === null) {
    return (
      <>
        {label}
        <Leaf value={value} />
      </>
    )
  }
  const size = Array.isArray(value) ? value.length : Object.keys(value).length
  if (size === 0) {
    return (
      <>
        {label}
        {Array.isArray(value) ? '[]' : '{}'}
      </>
    )
  }
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        className="-ml-3.5 inline-flex items-center gap-0.5 text-left"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? 'down' : 'right'} size={12} className="text-text-3" />
        {label}
        <span className="text-text-3">
          {Array.isArray(value) ? countOf(size, 'item') : countOf(size, 'field')}
        </span>
      </button>
      {isOpen ? <Entries value={value} level={level + 1} /> : null}
    </>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  useSought(
    (words) => typeof value === 'string' && has(value, words),
    () => setWhole(true),
  )
  if (typeof value !== 'string') return <span className="code-constant">{String(value)}</span>
  const isCut = value.length > LONGEST && !isWhole
  return (
    <span className="code-string">
      “{plainText(isCut ? value.slice(0, LONGEST) : value)}
      {isCut ? (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          … show all
        </button>
      ) : (
        '”'
      )}
    </span>
  )
}
