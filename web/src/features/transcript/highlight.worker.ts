// Colours code off the page: a grammar takes longer to get ready than a frame lasts.

import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import { type Asked, LANGUAGES, type Piece, type Told } from './languages'

const theme = createCssVariablesTheme({ name: 'ink', variablePrefix: '--code-' })
const PREFIX = 'var(--code-token-'

let ready: Promise<HighlighterCore> | undefined

addEventListener('message', (event: MessageEvent<Asked>) => void answer(event.data))

async function answer({ id, code, language }: Asked): Promise<void> {
  const load = LANGUAGES[language]
  if (load === undefined) return
  ready ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
  const highlighter = await ready
  const grammar = await load()
  await highlighter.loadLanguage(grammar.default)
  const name = grammar.default.at(-1)?.name ?? language
  const lines = highlighter.codeToTokensBase(code, { lang: name, theme: 'ink' }).map((line) =>
    line.map((token): Piece => {
      const kind = token.color?.startsWith(PREFIX) ? token.color.slice(PREFIX.length, -1) : null
      return [token.content, kind]
    }),
  )
  const told: Told = { id, lines }
  postMessage(told)
}
