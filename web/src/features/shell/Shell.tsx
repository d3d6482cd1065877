import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useConnection } from '@/api/live'
import { useKeys } from '@/lib/keys'
import { useTheme } from '@/lib/theme'
import { formatDuration } from '@/lib/time'
import { IconButton } from '@/ui/Button'
import { Icon, type IconName } from '@/ui/Icon'
import { CrumbPlace } from './Page'

const PAGES = [
  { to: '/', label: 'Dashboard', icon: 'dashboard' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/shows', label: 'Shows', icon: 'shows' },
  { to: '/teams', label: 'Teams', icon: 'teams' },
  { to: '/admin', label: 'Admin', icon: 'admin' },
] as const satisfies readonly { to: string; label: string; icon: IconName }[]

type Props = { counts?: Partial<Record<string, number>>; place?: string; children: ReactNode }

/** The frame around every page: where one can go, where one is, and whether the line is up. */
export function Shell({ counts = {}, place, children }: Props) {
  const [crumbs, setCrumbs] = useState<HTMLElement | null>(null)
  const [isRail, setRail] = useState(() => localStorage.getItem('sidebar') === 'rail')
  const [theme, switchTheme] = useTheme()
  const toggle = () => {
    localStorage.setItem('sidebar', isRail ? 'wide' : 'rail')
    setRail(!isRail)
  }
  useKeys({ '[': toggle, t: switchTheme })
  return (
    <div
      className={`grid min-h-screen ${isRail ? 'grid-cols-[52px_minmax(0,1fr)]' : 'grid-cols-[52px_minmax(0,1fr)] wide:grid-cols-[220px_minmax(0,1fr)]'}`}
    >
      <aside className="sticky top-0 flex h-screen flex-col px-2 pb-2">
        <div className="flex h-12 items-center gap-2.5 px-2 strong">
          <Mark />
          <span className={isRail ? 'hidden' : 'hidden wide:inline'}>Lion Studio</span>
          <span className={isRail ? 'hidden' : 'ml-auto hidden wide:inline'}>
            <IconButton title="Collapse sidebar  [" onClick={toggle}>
              <Icon name="sidebar" size={14} />
            </IconButton>
          </span>
        </div>
        <nav aria-label="Main" className="mt-1 grid gap-px">
          {PAGES.map((page) => (
            <Link
              key={page.to}
              to={page.to}
              title={page.label}
              activeOptions={{ exact: page.to === '/' }}
              className="flex h-[30px] items-center gap-2.5 rounded-control px-2 medium text-text-2 hover:bg-active data-[status=active]:bg-active data-[status=active]:text-text"
            >
              <Icon name={page.icon} className="text-text-3" />
              <span className={isRail ? 'hidden' : 'hidden wide:inline'}>{page.label}</span>
              <span
                className={`ml-auto text-12 font-normal text-text-3 ${isRail ? 'hidden' : 'hidden wide:inline'}`}
              >
                {counts[page.to]?.toLocaleString('en-GB')}
              </span>
            </Link>
          ))}
        </nav>
        <div
          className={`mt-auto grid gap-1 px-2 pt-2.5 text-11 text-text-3 ${isRail ? 'hidden' : 'hidden wide:grid'}`}
        >
          <span className="mono cut">{place}</span>
        </div>
      </aside>
      <div className="flex min-w-0 flex-col border-l border-line bg-canvas">
        <header className="sticky top-0 z-20 flex h-12 items-center gap-3 border-b border-line bg-canvas pr-4 pl-6">
          <nav
            ref={setCrumbs}
            aria-label="Breadcrumb"
            className="flex min-w-0 items-center gap-1.5 whitespace-nowrap text-text-3"
          />
          <div className="ml-auto flex items-center gap-2">
            <ConnectionMark />
            <IconButton title="Switch theme  T" onClick={switchTheme}>
              <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
            </IconButton>
          </div>
        </header>
        <main className="mx-auto grid w-full max-w-[1680px] flex-1 content-start gap-4 px-4 pt-5 pb-10 wide:px-6">
          <CrumbPlace value={crumbs}>{children}</CrumbPlace>
        </main>
      </div>
    </div>
  )
}

function Mark() {
  return (
    <svg className="icon text-brand" viewBox="0 0 20 19" aria-hidden="true" style={{ width: 20, height: 20 }}>
      <path
        d="M10 1.9 16.6 5.7v7.6L10 17.1 3.4 13.3V5.7ZM10 6.2v7.6M6.7 8.1v3.8M13.3 8.1v3.8"
        strokeWidth="1.6"
      />
    </svg>
  )
}

function ConnectionMark() {
  const connection = useConnection()
  const [tone, words] =
    connection.state === 'live'
      ? ['success', 'Live']
      : connection.state === 'connecting'
        ? ['neutral', 'Connecting']
        : ['warning', `Reconnecting, try ${connection.tries}`]
  const since =
    connection.state === 'offline'
      ? `Away for ${formatDuration((Date.now() - connection.since) / 1000)}`
      : undefined
  return (
    <span
      role="status"
      title={since}
      className={`t-${tone} inline-flex h-7 items-center gap-[7px] px-2 text-12 whitespace-nowrap text-text-2`}
    >
      <span className="size-[7px] flex-none rounded-full bg-tone shadow-[0_0_0_3px_var(--c-soft)]" />
      {words}
    </span>
  )
}
