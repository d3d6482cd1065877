/** A key, as it is written on the keyboard. */
export function Keycap({ children }: { children: string }) {
  return (
    <kbd className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-chip border border-line-strong bg-surface px-1 font-sans text-11 text-text-3">
      {children}
    </kbd>
  )
}
