import { formatBytes } from '@/lib/numbers'
import { plainText } from '@/lib/plain'
import { Button } from '@/ui/Button'
import { useMarkdown } from '@/ui/markdown/useMarkdown'
import { useFold } from './folds'

const SHOWN = 20_000 // characters before one asks for more

/** What somebody said, cut where it is huge. */
export function Said({ id, text }: { id: string; text: string }) {
  const Drawn = useMarkdown()
  const [isWhole, showWhole] = useFold(`${id} whole`)
  const isLong = text.length > SHOWN * 1.2
  const shown = isLong && !isWhole ? text.slice(0, SHOWN) : text
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
