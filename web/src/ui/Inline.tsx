import { plainText } from '@/lib/plain'

const CODE = /`([^`\n]+)`/

/** A short text as it was written; what stands between backticks looks like code, and nothing else is read into it. */
export function Inline({ text }: { text: string }) {
  return plainText(text)
    .split(CODE)
    .map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
        <code key={index} className="rounded-[3px] bg-active px-1 py-px font-mono text-[0.88em]">
          {part}
        </code>
      ),
    )
}
