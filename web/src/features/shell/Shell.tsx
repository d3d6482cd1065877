import { useNavigate, useRouter } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { type KeyActions, useKeys } from '@/lib/keys'
import { switchTheme } from '@/lib/theme'
import { AwayBanner } from './Connection'
import { PAGES } from './navigation'
import { CrumbPlace } from './Page'
import { Sidebar } from './Sidebar'
import { TopBar } from './TopBar'

const loadPalette = () => import('./palette/Palette')
const Palette = lazy(loadPalette)
const KeyHelp = lazy(() => import('./KeyHelp'))

const STORED = 'sidebar'
const IDLE = 2000 // ms after the first page

/** The frame around every page: where one can go, where one is, and whether the line is up. */
export function Shell({ children }: { children: ReactNode }) {
  const [crumbs, setCrumbs] = useState<HTMLElement | null>(null)
  const [layer, setLayer] = useState<'palette' | 'help' | null>(null)
  const [isRail, setRail] = useState(() => localStorage.getItem(STORED) === 'rail')
  const toggle = () => {
    localStorage.setItem(STORED, isRail ? 'wide' : 'rail')
    setRail(!isRail)
  }
  const navigate = useNavigate()
  const pages: KeyActions = Object.fromEntries(
    PAGES.map(({ key, href, label }) => [
      `g ${key}`,
      { does: `Go to ${label}`, act: () => void navigate({ href }) },
    ]),
  )
  useKeys(
    {
      'Ctrl+k': { does: 'Search or jump', act: () => setLayer('palette') },
      ...pages,
      '[': { does: 'Narrow or wide sidebar', act: toggle },
      t: { does: 'Switch theme', act: switchTheme },
      '?': { does: 'This help', act: () => setLayer('help') },
    },
    'Everywhere',
  )
  const close = () => setLayer(null)
  const takeTyped = useTypedAhead(layer === 'palette')
  return (
    <div
      className={`grid min-h-screen ${isRail ? 'grid-cols-[52px_minmax(0,1fr)]' : 'grid-cols-[52px_minmax(0,1fr)] wide:grid-cols-[220px_minmax(0,1fr)]'}`}
    >
      <button
        type="button"
        onClick={() => document.getElementById('main')?.focus()}
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-control bg-accent px-3 py-1.5 medium text-on-accent focus:translate-y-0"
      >
        Skip to content
      </button>
      <Sidebar isRail={isRail} onToggle={toggle} />
      <div className="flex min-w-0 flex-col border-l border-line bg-canvas">
        <TopBar crumbs={setCrumbs} onSearch={() => setLayer('palette')} onHelp={() => setLayer('help')} />
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto grid w-full max-w-[1680px] flex-1 grid-cols-[minmax(0,1fr)] content-start gap-4 px-4 pt-5 pb-10 outline-none focus-visible:shadow-none wide:px-6"
        >
          <CrumbPlace value={crumbs}>{children}</CrumbPlace>
        </main>
      </div>
      <AwayBanner />
      <PageAnnouncer />
      <Suspense fallback={null}>
        {layer === 'palette' ? (
          <Palette onClose={close} onHelp={() => setLayer('help')} onSidebar={toggle} takeTyped={takeTyped} />
        ) : null}
        {layer === 'help' ? <KeyHelp onClose={close} /> : null}
      </Suspense>
    </div>
  )
}

/** What is typed before the palette can take it is for the palette, and no key of the page below. */
function useTypedAhead(isOpen: boolean): () => string {
  const typed = useRef('')
  const stop = useRef<() => void>(() => undefined)
  useEffect(() => {
    // So that it is there when it is asked for; should the studio be away just now, it is fetched then.
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), IDLE)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (!isOpen) return
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || (event.key.length > 1 && event.key !== 'Enter')) return
      typed.current += event.key === 'Enter' ? '\n' : event.key
      event.preventDefault()
      event.stopPropagation()
    }
    addEventListener('keydown', listen, { capture: true })
    stop.current = () => removeEventListener('keydown', listen, { capture: true })
    return stop.current
  }, [isOpen])
  return useCallback(() => {
    stop.current()
    const text = typed.current
    typed.current = ''
    return text
  }, [])
}

/** Says the name of a page that was opened, to those who do not see that it changed. */
function PageAnnouncer() {
  const router = useRouter()
  const [title, setTitle] = useState('')
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged }) => {
        if (pathChanged) setTitle(document.title)
      }),
    [router],
  )
  return (
    <div aria-live="polite" className="sr-only">
      {title}
    </div>
  )
}
