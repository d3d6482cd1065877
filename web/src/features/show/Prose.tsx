import { plainText } from '@/lib/plain'

/** What people and agents wrote, as text. */
export function Prose({ text }: { text: string }) {
  return <p className="max-w-[68ch] break-words whitespace-pre-line">{plainText(text)}</p>
}
