import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { totalsQuery } from '@/api/totals'
import { formatCount } from '@/lib/numbers'
import { IconButton } from '@/ui/Button'
import { Icon } from '@/ui/Icon'
import { type Amount, type Destination, PAGES, useAmounts, VIEWS } from './navigation'

type Props = { isRail: boolean; onToggle: () => void }

/** Where one can go. As a rail it shows the icons only; a narrow window has no room for more. */
export function Sidebar({ isRail, onToggle }: Props) {
  const amounts = useAmounts()
  const totals = useQuery(totalsQuery).data
  const here = useHere()
  const wide = isRail ? 'hidden' : 'hidden wide:block'
  const list = (places: readonly Destination[]) =>
    places.map((place) => (
      <Place
        key={place.label}
        place={place}
        amount={amounts[place.label]}
        isHere={place.label === here}
        isRail={isRail}
      />
    ))
  return (
    <aside
      aria-label="Sidebar"
      className="sticky top-0 flex h-screen flex-col overflow-x-hidden overflow-y-auto px-2 pb-2"
    >
      <div
        className={`flex h-12 flex-none items-center gap-2.5 strong ${isRail ? 'justify-center' : 'justify-center wide:justify-start wide:px-2'}`}
      >
        <Mark />
        <span className={`tracking-[-0.01em] ${wide}`}>Lion Studio</span>
        <span className={`ml-auto ${wide}`}>
          <SidebarSwitch label="Collapse sidebar" onClick={onToggle} />
        </span>
      </div>
      <nav aria-label="Main" className="mt-1 grid gap-px">
        {list(PAGES)}
      </nav>
      <h2 className={`px-2 pt-5 pb-1.5 text-11 medium text-text-3 ${wide}`}>Views</h2>
      <nav
        aria-label="Views"
        className={`grid gap-px ${isRail ? 'mt-3 border-t border-line pt-3' : 'mt-3 border-t border-line pt-3 wide:mt-0 wide:border-0 wide:pt-0'}`}
      >
        {list(VIEWS)}
      </nav>
      <div className="mt-auto pt-2.5">
        {isRail ? (
          <span className="hidden place-items-center wide:grid">
            <SidebarSwitch label="Expand sidebar" onClick={onToggle} />
          </span>
        ) : (
          <div className="hidden gap-1 px-2 pb-1 text-11 text-text-3 wide:grid">
            <DatabasePlace place={totals?.place ?? ''} />
            <span>Lion Studio {totals?.version}</span>
          </div>
        )}
      </div>
    </aside>
  )
}

/** Where everything is kept. Of a long path the folder is cut, never the name. */
function DatabasePlace({ place }: { place: string }) {
  const nameAt = place.lastIndexOf('/')
  return (
    <span className="mono flex h-4 min-w-0" title={place}>
      <span className="cut">{place.slice(0, Math.max(0, nameAt))}</span>
      <span className="flex-none">{place.slice(Math.max(0, nameAt))}</span>
    </span>
  )
}

function SidebarSwitch({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <IconButton title={`${label}  [`} aria-label={label} onClick={onClick}>
      <Icon name="sidebar" size={14} />
    </IconButton>
  )
}

type PlaceProps = { place: Destination; amount: Amount | undefined; isHere: boolean; isRail: boolean }

function Place({ place, amount, isHere, isRail }: PlaceProps) {
  const tone = amount?.tone
  const wide = isRail ? 'hidden' : 'hidden wide:inline'
  const shape = isRail
    ? 'h-9 justify-center'
    : 'h-9 justify-center wide:h-[30px] wide:justify-start wide:px-2'
  return (
    <Link
      {...place.link}
      title={isRail ? place.label : undefined}
      activeOptions={{ exact: true, includeSearch: true }} // or Link lights more than one
      aria-current={isHere ? 'page' : undefined}
      className={`relative flex items-center gap-2.5 rounded-control medium transition-colors duration-90 hover:bg-active ${isHere ? 'bg-active text-text' : 'text-text-2'} ${shape}`}
    >
      <Icon name={place.icon} className={isHere ? 'text-text' : 'text-text-3'} />
      <span className={isRail ? 'sr-only' : 'sr-only wide:not-sr-only'}>{place.label}</span>
      {amount === undefined ? null : (
        <span
          className={`ml-auto text-12 ${tone === undefined ? 'font-normal text-text-3' : `t-${tone} medium text-tone-fg`} ${wide}`}
        >
          {formatCount(amount.count)}
        </span>
      )}
      {tone === undefined ? null : (
        <span
          aria-hidden="true"
          className={`t-${tone} absolute top-1.5 right-1.5 size-1.5 rounded-full bg-tone ${isRail ? '' : 'wide:hidden'}`}
        />
      )}
    </Link>
  )
}

/** The one place that is lit: the view that is shown, else the page. */
function useHere(): string | null {
  return useRouterState({
    select: ({ location }) => {
      const path = location.pathname.replace(/(?<=.)\/$/, '')
      const view = VIEWS.find(({ href }) => href === path + location.searchStr)
      const page = PAGES.find(({ href }) => href === path || (href !== '/' && path.startsWith(`${href}/`)))
      return view?.label ?? page?.label ?? null
    },
  })
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
