import { type ReactNode, useId, useState } from 'react'
import { plainText } from '@/lib/plain'
import { CopyButton } from '@/ui/CopyButton'
import { Icon } from '@/ui/Icon'

type Props = {
  /** Its name: that of the file it shows. */
  file: string
  says?: string
  startsOpen?: boolean
  json?: Record<string, unknown>
  children?: ReactNode
}

/** A file that is closed until somebody wants to read it. */
export function Fold({ file, says, startsOpen = false, json, children }: Props) {
  const [isOpen, setOpen] = useState(startsOpen)
  const id = useId()
  return (
    <div className="min-w-0 rounded-control border border-line bg-surface">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        className="flex h-8 w-full items-center gap-2 px-3 text-text-2 hover:text-text"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? 'down' : 'right'} size={12} />
        <span className="mono">{file}</span>
        <span className="ml-auto text-12 text-text-3">{says}</span>
      </button>
      {isOpen ? (
        <div id={id} className="border-t border-line">
          {json === undefined ? <div className="px-3 py-2.5">{children}</div> : <Json value={json} />}
        </div>
      ) : null}
    </div>
  )
}

function Json({ value }: { value: Record<string, unknown> }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <div className="relative">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse */}
      <pre className="mono max-h-80 overflow-auto px-3 py-2.5 leading-[19px]" tabIndex={0}>
        {plainText(text)}
      </pre>
      <span className="absolute top-1.5 right-1.5">
        <CopyButton text={text} label="Copy JSON" />
      </span>
    </div>
  )
}
