import { Fragment } from 'react'
import { type Binding, useBindings } from '@/lib/keys'
import { Dialog } from '@/ui/Dialog'
import { Keycap } from '@/ui/Keycap'

// What keys mean wherever a page has them, for pages that do not say it themselves.
const MEANINGS: Record<string, string> = {
  '/': 'Filter',
  j: 'Next row',
  k: 'Previous row',
  Enter: 'Open',
  x: 'Select row',
  X: 'Select all rows from the last one',
  e: 'Evidence of the state',
  f: 'Transcript in focus',
  n: 'Next error',
  p: 'Previous error',
  End: 'Follow live',
  c: 'Copy link',
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((place) => [place, 'Go to that section'])),
}
const NAMES: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', ' ': 'Space', Escape: 'Esc' }

type Line = { keys: string[]; does: string }

/** What the keys do, here and everywhere. */
export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const groups = groupsOf(useBindings())
  const isOne = groups.length === 1
  return (
    <Dialog
      open
      onClose={onClose}
      title="Keyboard"
      says="They rest while you type in a field."
      width={isOne ? 400 : 640}
    >
      <div className={`-mb-5 gap-x-10 ${isOne ? '' : 'sm:columns-2'}`}>
        {groups.map(([name, lines]) => (
          <section key={name} aria-label={name} className="break-inside-avoid pb-5">
            <h3 className="mb-1.5 text-12 medium text-text-3">{name}</h3>
            <dl className="grid grid-cols-[96px_minmax(0,1fr)] items-center gap-y-1.5">
              {lines.map(({ keys, does }) => (
                <Fragment key={does}>
                  <dt>
                    <AllKeys keys={keys} />
                  </dt>
                  <dd className="text-text-2">{does}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

/** Keys that do the same are one line. */
export function groupsOf(bindings: readonly Binding[]): [string, Line[]][] {
  const groups = new Map<string, Map<string, string[]>>()
  for (const { group, actions } of bindings) {
    const lines = groups.get(group) ?? new Map<string, string[]>()
    for (const [key, action] of Object.entries(actions())) {
      const does = typeof action === 'function' ? MEANINGS[key] : action.does
      if (does !== undefined) lines.set(does, [...(lines.get(does) ?? []), key])
    }
    if (lines.size > 0) groups.set(group, lines)
  }
  return [...groups].map(([name, lines]) => [name, [...lines].map(([does, keys]) => ({ keys, does }))])
}

/** Keys that do the same; of many digits in a row the first and the last. */
function AllKeys({ keys }: { keys: readonly string[] }) {
  const [first = '', last = ''] = [keys[0], keys.at(-1)]
  const isRow = keys.length > 2 && keys.every((key, place) => Number(key) === Number(first) + place)
  if (!isRow) return keys.map((key) => <Keys key={key} name={key} />)
  return (
    <span className="inline-flex items-center gap-[3px]">
      <Keycap>{first}</Keycap>
      <span className="text-12 text-text-3">to</span>
      <Keycap>{last}</Keycap>
    </span>
  )
}

function Keys({ name }: { name: string }) {
  const steps = name === ' ' ? [name] : name.split(' ')
  return (
    <span className="mr-1.5 inline-flex items-center gap-[3px]">
      {steps.map((step, index) => (
        <Fragment key={step}>
          {index > 0 ? <span className="text-12 text-text-3">then</span> : null}
          {step.split(/(?<=.)\+(?=.)/).map((part) => (
            <Keycap key={part}>{capOf(part)}</Keycap>
          ))}
        </Fragment>
      ))}
    </span>
  )
}

const capOf = (key: string): string =>
  NAMES[key] ?? (/^[A-Z]$/.test(key) ? `Shift ${key}` : key.length === 1 ? key.toUpperCase() : key)
