import { useEffect } from 'react'
import { plainText } from '@/lib/plain'
import { prepareMarkdown, useMarkdown } from '@/ui/markdown/useMarkdown'

prepareMarkdown() // beside the show, so that a play opens as it stays

/** What people and agents wrote, as markdown that can do nothing. Until it can be drawn, it is plain text. */
export function Prose({ text }: { text: string }) {
  const Drawn = useMarkdown()
  useEffect(prepareMarkdown, [])
  return (
    <div className="max-w-[80ch] min-w-0 break-words">
      {Drawn === null ? <Plain text={text} /> : <Drawn text={text} />}
    </div>
  )
}

/** As tall as it will be: a block for each paragraph, with the distances of markdown. */
function Plain({ text }: { text: string }) {
  return (
    <div className="md">
      {plainText(text)
        .trim()
        .split(/\n\s*\n/)
        .map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a block is its place in the text
          <p key={at} className={/^\s*([-*+>|]|\d+\.|```)/.test(block) ? 'whitespace-pre-line' : ''}>
            {block}
          </p>
        ))}
    </div>
  )
}
