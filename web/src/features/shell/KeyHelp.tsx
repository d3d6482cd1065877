import { Fragment } from 'react'
import { type Binding, useBindings } from '@/lib/keys'
import { Dialog } from '@/ui/Dialog'
import { Keycap } from '@/ui/Keycap'

// What keys mean wherever a page has them, for pages that do not say it themselves.
const MEANINGS: Record<string, string> = {
  '/': 'filter',
  j: 'next row',
  k: 'previous row',
  Enter: 'open',
  x: 'select row',
  X: 'select all rows from the last one',
  e: 'evidence of the state',
  f: 'transcript in focus',
  n: 'next error',
  p: 'previous error',
  End: 'follow live',
  c: 'copy link',
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
      <div className={`grid gap-x-10 gap-y-5 ${isOne ? '' : 'sm:grid-cols-2'}`}>
        {groups.map(([name, lines]) => (
          <section key={name} aria-label={name}>
            <h3 className="mb-1.5 text-12 medium text-text-3">{name}</h3>
            <dl className="grid grid-cols-[96px_minmax(0,1fr)] items-center gap-y-1.5">
              {lines.map(({ keys, does }) => (
                <Fragment key={does}>
                  <dt>
                    {keys.map((key) => (
                      <Keys key={key} name={key} />
                    ))}
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
