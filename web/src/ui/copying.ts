import { copyText } from '@/lib/copyText'
import { toasts } from './toasts'

/** Tell that the browser did not let something be copied. */
export const tellNotCopied = (text?: string): void =>
  void toasts.failed(
    'Nothing was copied',
    text ?? 'The browser does not let this page write to the clipboard.',
  )

/** Copy, and say so below: for what has no button of its own to say it with. A link that is refused can be read there. */
export async function copyAndSay(text: string, done: string): Promise<void> {
  if (await copyText(text)) toasts.done(done)
  else tellNotCopied(text)
}
