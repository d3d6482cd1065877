import { useState } from 'react'
import { formatBytes } from '@/lib/numbers'
import { plainText } from '@/lib/plain'
import { Button } from '@/ui/Button'
import { useMarkdown } from '@/ui/markdown/useMarkdown'
import { useFold } from './folds'

const SHOWN = 20_000 // characters before one asks for more
const LONGEST_LINE = 5_000 // such a line is no markdown, and would take long to be read as such
const LONGEST_DRAWN = 200_000

const hasLongLine = (text: string): boolean => {
  let from = 0
  while (from < text.length) {
    const end = text.indexOf('\n', from)
    if ((end === -1 ? text.length : end) - from > LONGEST_LINE) return true
    if (end === -1) return false
    from = end + 1
  }
  return false
}

/** What somebody said, as markdown where that is safe and quick, cut where it is huge. */
export function Said({ id, text }: { id: string; text: string }) {
  const Drawn = useMarkdown()
  const [isWhole, showWhole] = useFold(`${id} whole`)
  const isLong = text.length > SHOWN * 1.2
  const shown = isLong && !isWhole ? text.slice(0, SHOWN) : text
  const [isPlain] = useState(() => hasLongLine(text))
  return (
    <>
      {Drawn === null || isPlain || shown.length > LONGEST_DRAWN ? (
        <div
          className={`max-w-[76ch] leading-[21px] whitespace-pre-wrap wrap-anywhere ${shown.length > SHOWN * 1.2 ? 'max-h-[480px] overflow-y-auto' : ''}`}
        >
          {plainText(shown)}
        </div>
      ) : (
        <Drawn text={shown} />
      )}
      {isLong && !isWhole ? (
        <Button size="small" className="mt-2" onClick={showWhole}>
          Show all {formatBytes(text.length)}
        </Button>
      ) : null}
    </>
  )
}
