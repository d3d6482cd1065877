// A whole and its parts, as a bar 6 px high. One is never invisible.

export type Part = { tone: string; count: number; label: string }

export function StackBar({ parts, className = '' }: { parts: readonly Part[]; className?: string }) {
  const there = parts.filter((part) => part.count > 0)
  const sentence = there.map((part) => `${part.count} ${part.label}`).join(', ')
  return (
    // Drawn anew when its parts are others: a part that slides is a movement that nobody asked for.
    <div
      key={sentence}
      role="img"
      aria-label={sentence || 'none'}
      title={sentence}
      className={`flex h-1.5 gap-0.5 ${className}`}
    >
      {there.length === 0 ? <span className="flex-1 rounded-[2px] bg-active" /> : null}
      {there.map((part) => (
        <span
          key={part.label}
          className={`t-${part.tone} min-w-[3px] rounded-[2px] bg-tone`}
          style={{ flexGrow: part.count }}
        />
      ))}
    </div>
  )
}
