// Asks the worker to colour code, and remembers what it said.

import { useEffect, useState } from 'react'
import { type Language, languageOf, type Piece, type Told } from './languages'

const LONGEST_CODE = 20_000 // characters; more is shown as it is
const LONGEST_LINE = 2_000
const REMEMBERED = 200

let worker: Worker | undefined
let asked = 0
const waiting = new Map<number, (lines: Piece[][]) => void>()
const known = new Map<string, Piece[][]>()

function ask(code: string, language: Language, tell: (lines: Piece[][]) => void): () => void {
  if (worker === undefined) {
    worker = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' })
    worker.addEventListener('message', (event: MessageEvent<Told>) => {
      waiting.get(event.data.id)?.(event.data.lines)
      waiting.delete(event.data.id)
    })
  }
  asked += 1
  const id = asked
  waiting.set(id, tell)
  worker.postMessage({ id, code, language })
  return () => waiting.delete(id)
}

const isShort = (code: string): boolean =>
  code.length <= LONGEST_CODE && code.split('\n').every((line) => line.length <= LONGEST_LINE)

/** The code in coloured pieces by line; null until it is coloured, and where it never will be. */
export function useHighlight(code: string, word: string): Piece[][] | null {
  const language = typeof Worker === 'undefined' ? null : languageOf(word)
  const key = `${language} ${code}`
  const [coloured, setColoured] = useState<{ key: string; lines: Piece[][] } | null>(null)
  const lines = known.get(key) ?? (coloured?.key === key ? coloured.lines : null)
  const asks = lines === null && language !== null && isShort(code) ? language : null
  useEffect(() => {
    if (asks === null) return
    return ask(code, asks, (told) => {
      if (known.size >= REMEMBERED) known.delete(known.keys().next().value ?? '')
      known.set(key, told)
      setColoured({ key, lines: told })
    })
  }, [asks, code, key])
  return lines
}
