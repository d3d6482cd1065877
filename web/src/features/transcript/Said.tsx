import { formatBytes } from '@/lib/numbers'
import { plainText } from '@/lib/plain'
import { Button } from '@/ui/Button'
import { useMarkdown } from '@/ui/markdown/useMarkdown'
import { useFold } from './folds'
import { has } from './sought'

const SHOWN = 20_000 // characters before one asks for more

/** What somebody said, cut where it is huge. */
export function Said({ id, text }: { id: string; text: string }) {
  const Drawn = useMarkdown()
  const isLong = text.length > SHOWN * 1.2
  const beginning = isLong ? text.slice(0, SHOWN) : text
  const [isWhole, showWhole] = useFold(
    `${id} whole`,
    false,
    (words) => !has(beginning, words) && has(text, words),
  )
  const shown = isWhole ? text : beginning
  return (
    <>
      {Drawn === null ? (
        <div className="max-w-[76ch] leading-[21px] whitespace-pre-wrap wrap-anywhere">
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
