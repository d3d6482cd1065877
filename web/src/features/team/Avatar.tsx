import { plainLine } from '@/lib/plain'

/** The first letters of a name: of its parts when it has several. */
export function initialsOf(name: string): string {
  const parts = plainLine(name)
    .split(/[\s._-]+/)
    .filter((part) => /^[\p{L}\p{N}]/u.test(part))
  const [first = '?', second] = parts
  const letters = second === undefined ? [...first].slice(0, 2) : [[...first][0] ?? '', [...second][0] ?? '']
  const text = letters.join('')
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase()
}

export function Avatar({ name, size = 24 }: { name: string; size?: 24 | 28 }) {
  return (
    <span
      aria-hidden="true"
      className="grid flex-none place-items-center rounded-control bg-active text-11 strong text-text-2"
      style={{ width: size, height: size }}
    >
      {initialsOf(name)}
    </span>
  )
}
