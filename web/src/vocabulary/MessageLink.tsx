import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MessagePlace } from '@/api/runs'

type Props = { runId: string; place: MessagePlace; className?: string; title?: string; children?: ReactNode }

/** The way to one message: its branch is in the search of the address, its position behind the hash. */
export function MessageLink({ runId, place, className, title, children }: Props) {
  return (
    <Link
      {...messageAddress(runId, place)}
      className={className ?? 'underline decoration-line-strong underline-offset-2 hover:decoration-current'}
      {...(title === undefined ? {} : { title })}
    >
      {children ?? `#${place.position}`}
    </Link>
  )
}

/** Where a message is, for links and for navigation. */
export const messageAddress = (runId: string, place: MessagePlace) =>
  ({
    to: '/runs/$runId',
    params: { runId },
    search: { branch: place.branch_id },
    hash: `m${place.position}`,
  }) as const
