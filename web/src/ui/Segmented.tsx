type Props<Word extends string> = {
  label: string
  words: readonly { word: Word; text: string }[]
  value: Word
  onChange: (word: Word) => void
  size?: 'normal' | 'small'
}

/** One of a few words, all of them in sight. The arrow keys move between them. */
export function Segmented<Word extends string>({
  label,
  words,
  value,
  onChange,
  size = 'normal',
}: Props<Word>) {
  const isSmall = size === 'small'
  return (
    <fieldset
      aria-label={label}
      className={`grid grid-flow-col rounded-control bg-active p-0.5 medium text-text-2 ${isSmall ? 'h-7 text-12' : 'h-8 auto-cols-fr'}`}
    >
      {words.map(({ word, text }) => (
        <label key={word} className="relative grid cursor-pointer">
          <input
            type="radio"
            name={label}
            value={word}
            checked={word === value}
            onChange={() => onChange(word)}
            className="peer absolute inset-0 cursor-pointer opacity-0"
          />
          <span
            className={`pointer-events-none grid place-items-center rounded-[5px] ${isSmall ? 'px-2' : 'px-3'} peer-checked:bg-surface in-data-[theme=dark]:peer-checked:bg-line-strong peer-checked:text-text peer-checked:shadow-1 peer-focus-visible:shadow-(--ring)`}
          >
            {text}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
