import type { MouseEvent } from 'react'
import { Icon } from '@/ui/Icon'
import { Keycap } from '@/ui/Keycap'
import type { Item } from './items'
import { piecesOf } from './match'

type Props = {
  id: string
  item: Item
  words: readonly string[]
  isCurrent: boolean
  onPoint: () => void
  onClick: (event: MouseEvent) => void
}

/** One line of the palette. What is an address is a link, for those who open it with the middle button. */
export function Line({ id, item, words, isCurrent, onPoint, onClick }: Props) {
  const shared = {
    id,
    role: 'option',
    'aria-selected': isCurrent,
    tabIndex: -1,
    onMouseMove: isCurrent ? undefined : onPoint,
    onClick,
    className: `mx-1.5 flex h-[34px] min-w-0 cursor-pointer items-center gap-2.5 rounded-control px-2.5 ${isCurrent ? 'bg-active' : ''}`,
  } as const
  const inside = (
    <>
      <Icon
        name={item.icon}
        className={item.tone === undefined ? 'text-text-3' : `t-${item.tone} text-tone`}
      />
      <span className="cut">
        {piecesOf(item.label, words).map((piece) =>
          piece.isFound ? (
            <mark key={piece.at} className="bg-transparent strong text-text">
              {piece.text}
            </mark>
          ) : (
            <span key={piece.at}>{piece.text}</span>
          ),
        )}
      </span>
      {item.detail === undefined ? null : <span className="mono flex-none text-text-3">{item.detail}</span>}
      <span className="ml-auto flex min-w-0 flex-none items-center gap-2 pl-4 text-12 text-text-3">
        <span className="cut max-w-48">{item.hint}</span>
        {isCurrent ? (
          <span aria-hidden="true">
            <Keycap>Enter</Keycap>
          </span>
        ) : null}
      </span>
    </>
  )
  return 'href' in item ? (
    <a href={item.href} {...shared}>
      {inside}
    </a>
  ) : (
    <div {...shared}>{inside}</div>
  )
}
