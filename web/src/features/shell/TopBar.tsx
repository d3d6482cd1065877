import { useIsFetching } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTheme } from '@/lib/theme'
import { IconButton } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { Keycap } from '@/ui/Keycap'
import { ConnectionMark } from './Connection'

type Props = { crumbs: (place: HTMLElement | null) => void; onSearch: () => void; onHelp: () => void }

/** Where one is, the way to everything else, and whether the line is up. */
export function TopBar({ crumbs, onSearch, onHelp }: Props) {
  const [theme, switchTheme] = useTheme()
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-canvas pr-4 pl-4 wide:pl-6">
      <nav
        ref={crumbs}
        aria-label="Breadcrumb"
        className="mr-auto flex min-w-0 items-center gap-1.5 whitespace-nowrap text-text-3"
      />
      <button
        type="button"
        onClick={onSearch}
        aria-keyshortcuts="Control+K"
        className="flex h-7 w-[200px] flex-none items-center gap-2 rounded-control border border-line-strong bg-surface pr-1.5 pl-[9px] text-left text-text-3 hover:border-line-control max-[599px]:w-auto max-[599px]:px-[6px] wide:w-[280px]"
      >
        <Icon name="search" size={14} />
        <span className="cut max-[599px]:sr-only">Search or jump to…</span>
        <span aria-hidden="true" className="ml-auto flex gap-[3px] max-[599px]:hidden">
          <Keycap>Ctrl</Keycap>
          <Keycap>K</Keycap>
        </span>
      </button>
      <ConnectionMark />
      <IconButton title="Keyboard  ?" aria-label="Keyboard help" onClick={onHelp}>
        <Icon name="keyboard" />
      </IconButton>
      <IconButton title="Switch theme  T" aria-label="Switch theme" onClick={switchTheme}>
        <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
      </IconButton>
      <RefetchLine />
    </header>
  )
}

const PATIENCE = 150 // ms: what is back sooner is not worth a line

/** Something that is shown is being read again. The page stays as it is meanwhile. */
function RefetchLine() {
  const isFetching = useIsFetching({ predicate: (query) => query.state.data !== undefined }) > 0
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(isFetching), isFetching ? PATIENCE : 0)
    return () => clearTimeout(timer)
  }, [isFetching])
  if (!isShown) return null
  return (
    <div
      role="progressbar"
      aria-label="Reading again"
      className="absolute inset-x-0 -bottom-px h-0.5 overflow-hidden"
    >
      <div className="h-full w-1/3 animate-pass bg-accent motion-reduce:w-full motion-reduce:animate-none" />
    </div>
  )
}
