import { useEffect, useState } from 'react'
import { copyText } from '@/lib/copyText'
import { IconButton } from './Button'
import { tellNotCopied } from './copying'
import { Icon } from './Icon'

const SHOWN_FOR = 1500 // ms

/** Puts a text on the clipboard and says so for a moment. */
export function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_FOR)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async (text: string): Promise<void> => {
    if (await copyText(text)) setCopied(true)
    else tellNotCopied()
  }
  return [copied, (text) => void copy(text)]
}

/** A text that takes long to write is given as a function, and written when it is asked for. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, copy] = useCopy()
  return (
    <IconButton
      title={copied ? 'Copied' : label}
      className="size-6"
      onClick={() => copy(typeof text === 'string' ? text : text())}
    >
      <Icon name={copied ? 'check' : 'copy'} size={12} />
    </IconButton>
  )
}
