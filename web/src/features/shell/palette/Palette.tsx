import { Dialog } from '@base-ui/react/dialog'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '@/ui/Icon'
import { Keycap } from '@/ui/Keycap'
import { Trouble } from '@/vocabulary/Trouble'
import type { ShellActs } from './actions'
import { type Item, useFound } from './items'
import { Line } from './Line'

type Props = ShellActs & {
  onClose: () => void
  /** What was typed while this was still on its way, a line break for Enter. Asked for when it can be typed here. */
  takeTyped: () => string
}

/** From any page to any run, show, team, page or action, by typing the beginnings of its words. */
export default function Palette({ onClose, takeTyped, ...acts }: Props) {
  const router = useRouter()
  const listId = useId()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const [wanted, setWanted] = useState<{ inNewTab: boolean } | null>(null)
  const found = useFound(text, acts)
  const items = found.groups.flatMap((group) => group.items)
  const at = Math.max(
    0,
    items.findIndex((item) => item.id === chosen),
  )
  const current = items[at]
  const optionId = (item: Item) => `${listId}-${items.indexOf(item)}`

  const open = (item: Item, inNewTab: boolean) => {
    onClose()
    if ('act' in item) item.act()
    else if (inNewTab) window.open(item.href, '_blank', 'noopener')
    else void router.navigate({ href: item.href })
  }
  // Who presses Enter before the answer is here means the answer.
  useEffect(() => {
    if (wanted === null || !found.isSettled) return
    setWanted(null)
    if (current !== undefined) open(current, wanted.inNewTab)
  })
  useEffect(() => {
    if (current !== undefined)
      document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at, current, listId])

  const takeOver = () => {
    const [typed = '', ...entered] = takeTyped().split('\n')
    setText((known) => known + typed)
    if (entered.length > 0) setWanted({ inNewTab: false })
  }
  const move = (by: number) => setChosen(items.at((at + by) % items.length)?.id ?? null)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const isCommand = event.ctrlKey || event.metaKey
    if (event.key === 'ArrowDown' && items.length > 0) move(1)
    else if (event.key === 'ArrowUp' && items.length > 0) move(-1)
    else if (event.key === 'Enter') setWanted({ inNewTab: isCommand })
    else if (event.key === 'k' && isCommand) onClose()
    else return
    event.preventDefault()
  }
  const onClick = (item: Item) => (event: MouseEvent) => {
    event.preventDefault()
    open(item, event.ctrlKey || event.metaKey)
  }

  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-(--scrim)" />
        <Dialog.Popup
          aria-label="Search or jump"
          initialFocus={input}
          className="fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[580px] max-w-[calc(100vw-32px)] -translate-x-1/2 flex-col overflow-hidden rounded-dialog border border-line-strong bg-raised shadow-3 outline-none"
        >
          <div className="flex h-12 flex-none items-center gap-2.5 border-b border-line px-4">
            <Icon name="search" className="text-text-3" />
            <input
              ref={input}
              type="text"
              role="combobox"
              aria-label="Search or jump to"
              aria-expanded={items.length > 0}
              aria-controls={listId}
              aria-activedescendant={current === undefined ? undefined : optionId(current)}
              aria-autocomplete="list"
              autoComplete="off"
              spellCheck={false}
              placeholder="Runs, shows, teams, pages, actions"
              value={text}
              onFocus={takeOver}
              onChange={(event) => {
                setText(event.target.value)
                setChosen(null)
              }}
              onKeyDown={onKeyDown}
              className="min-w-0 flex-1 bg-transparent text-15 outline-none placeholder:text-text-3 focus-visible:shadow-none"
            />
            <Keycap>Esc</Keycap>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto pb-1.5">
            {found.error === null ? null : <Trouble error={found.error} retry={found.retry} />}
            <div id={listId} role="listbox" aria-label="Found">
              {found.groups.map((group) => (
                <div key={group.name} role="group" aria-label={group.name}>
                  <div aria-hidden="true" className="px-4 pt-2.5 pb-1 text-11 medium text-text-3">
                    {group.name}
                  </div>
                  {group.items.map((item) => (
                    <Line
                      key={item.id}
                      id={optionId(item)}
                      item={item}
                      words={found.words}
                      isCurrent={item === current}
                      onPoint={() => setChosen(item.id)}
                      onClick={onClick(item)}
                    />
                  ))}
                </div>
              ))}
            </div>
            {items.length === 0 && found.isSettled && found.error === null ? <Nothing text={text} /> : null}
          </div>
          <div role="status" className="sr-only">
            {found.isSettled ? `${items.length} found` : ''}
          </div>
          <footer
            aria-hidden="true"
            className="flex h-[38px] flex-none items-center gap-4 border-t border-line bg-sunken px-4 text-12 text-text-3"
          >
            <span className="flex items-center gap-[5px]">
              <Keycap>↑</Keycap>
              <Keycap>↓</Keycap> move
            </span>
            <span className="flex items-center gap-[5px]">
              <Keycap>Enter</Keycap> open
            </span>
            <span className="flex items-center gap-[5px]">
              <Keycap>Ctrl</Keycap>
              <Keycap>Enter</Keycap> new tab
            </span>
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Nothing({ text }: { text: string }) {
  return (
    <div className="grid gap-1 px-4 py-5">
      <p className="medium">Nothing begins with “{text.trim()}”.</p>
      <p className="text-text-2">
        Runs are found by the beginnings of words in their id, name, agent, playbook and show.
      </p>
    </div>
  )
}
