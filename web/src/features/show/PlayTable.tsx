import { type ReactNode, useMemo } from 'react'
import type { PlayInShow, ShowInFull } from '@/api/shows'
import { useRowKeys } from '@/lib/rowKeys'
import { PlayRow } from './PlayRow'

type Props = {
  show: ShowInFull
  lit: string | null
  open: ReadonlySet<string>
  onPoint: (name: string | null) => void
  onToggle: (name: string) => void
  onJudge: (play: PlayInShow) => void
}

/** The plays of a show in the order of its plan. Each row opens where it is. */
export function PlayTable({ show, lit, open, onPoint, onToggle, onJudge }: Props) {
  const critical = new Set(show.critical_path)
  // The same one until the show changes, else pointing at a row would draw all of them.
  const failed = useMemo(
    () => new Set(show.plays.filter((play) => play.badges.pill === 'failed').map((play) => play.name)),
    [show.plays],
  )
  const rows = useRowKeys<HTMLTableElement>()
  return (
    // Where four columns have no room, the state stands below the name, and how long it took below when it changed.
    <table ref={rows} className="w-full table-fixed border-collapse max-[639px]:block" aria-label="Plays">
      <thead className="max-[639px]:sr-only">
        <tr className="h-8 border-b border-line bg-sunken text-12 text-text-3 [&>th]:medium">
          <Head className="w-[30%] pl-12 wide:w-[232px]">Play</Head>
          <Head className="wide:w-[312px]">State</Head>
          <Head className="hidden wide:table-cell">Waits for</Head>
          <Head className="hidden w-[76px] text-right wide:table-cell">Attempt</Head>
          <Head className="w-[92px] text-right">Duration</Head>
          <Head className="hidden w-[96px] wide:table-cell">Run</Head>
          <Head className="w-[88px] pr-4 text-right">Updated</Head>
        </tr>
      </thead>
      <tbody className="max-[639px]:block">
        {show.plays.map((play) => (
          <PlayRow
            key={play.name}
            show={show}
            play={play}
            failed={failed}
            isCritical={critical.has(play.name)}
            isLit={lit === play.name}
            isOpen={open.has(play.name)}
            onPoint={onPoint}
            onToggle={onToggle}
            onJudge={onJudge}
          />
        ))}
      </tbody>
    </table>
  )
}

function Head({ children, className = '' }: { children: ReactNode; className?: string }) {
  return (
    <th className={`px-3 ${/text-right/.test(className) ? '' : 'text-left'} ${className}`}>{children}</th>
  )
}
