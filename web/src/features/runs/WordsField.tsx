import { type Ref, useEffect, useRef, useState } from 'react'
import { SearchField } from '@/ui/Field'
import { Keycap } from '@/ui/Keycap'

const PAUSE = 180 // ms after the last letter

type Props = { value: string; onChange: (value: string) => void; ref: Ref<HTMLDivElement> }

/** Words to look for. The list follows when the hand rests, and the field follows when the address changes. */
export function WordsField({ value, onChange, ref }: Props) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const tell = useRef(onChange)
  useEffect(() => {
    tell.current = onChange
  })
  useEffect(() => {
    // Back and forward change the address; what was typed since it was last told must not be lost to that.
    if (value !== sent.current) setText(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text.trim()
      tell.current(text.trim())
    }, PAUSE)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div ref={ref} className="relative w-[300px] min-w-40 shrink">
      <SearchField
        label="Filter runs by words"
        placeholder="Name, id, agent, playbook, show…"
        className="w-full pr-8"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text === '') event.currentTarget.blur()
        }}
      />
      {text === '' ? (
        <span className="pointer-events-none absolute inset-y-0 right-1.5 flex items-center">
          <Keycap>/</Keycap>
        </span>
      ) : null}
    </div>
  )
}
