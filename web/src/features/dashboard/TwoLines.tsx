import { Link, type LinkProps } from '@tanstack/react-router'
import { plainLine } from '@/lib/plain'

/** A name that leads to the thing, and a quiet line below. */
export function TwoLines({ name, link, says }: { name: string; link: LinkProps; says: string }) {
  return (
    <span className="grid min-w-0">
      <Link {...link} data-stop className="cut leading-[18px] medium hover:underline">
        {plainLine(name)}
      </Link>
      <span className="cut text-12 text-text-3" title={says}>
        {says}
      </span>
    </span>
  )
}
