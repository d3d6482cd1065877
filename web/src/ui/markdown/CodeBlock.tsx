import { plainText } from '@/lib/plain'
import { CopyButton } from '@/ui/CopyButton'
import { useHighlight } from './highlight'

type Props = { code: string; language: string }

/** Code with its colours, which come a moment later and move nothing. */
export function CodeBlock({ code, language }: Props) {
  const shown = plainText(code)
  const isDiff = language === 'diff' || language === 'patch'
  const lines = useHighlight(shown, isDiff ? '' : language)
  return (
    <div className="group/code relative my-2 max-w-[720px]">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable without a mouse */}
      <pre tabIndex={0} className={`code rounded-control border border-line ${isDiff ? 'code-diff' : ''}`}>
        <code>
          {isDiff ? <Diff code={shown} /> : null}
          {lines === null
            ? isDiff
              ? null
              : shown
            : lines.map((pieces, line) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
                <span key={line}>
                  {pieces.map(([text, kind], at) =>
                    kind === null ? (
                      text
                    ) : (
                      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place in the line
                      <span key={at} className={`code-${kind}`}>
                        {text}
                      </span>
                    ),
                  )}
                  {'\n'}
                </span>
              ))}
        </code>
      </pre>
      <span className="absolute top-1 right-1 rounded-control bg-sunken opacity-0 group-hover/code:opacity-100 focus-within:opacity-100">
        <CopyButton text={code} label="Copy code" />
      </span>
    </div>
  )
}

function Diff({ code }: { code: string }) {
  return code.split('\n').map((line, at) => {
    const look = line.startsWith('+') ? 'code-add' : line.startsWith('-') ? 'code-del' : ''
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
      <span key={at} className={`code-line ${look}`}>
        {line === '' ? ' ' : line}
      </span>
    )
  })
}
