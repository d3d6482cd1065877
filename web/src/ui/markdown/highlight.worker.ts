// Colours code off the page: a grammar takes longer to get ready than a frame lasts.

import {
  createCssVariablesTheme,
  createHighlighterCore,
  type HighlighterCore,
  type LanguageRegistration,
} from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import type { Asked, Language, Piece, Told } from './languages'

type Grammar = { default: LanguageRegistration[] }

// Each is loaded when it is met.
const GRAMMARS: Record<Language, () => Promise<Grammar>> = {
  c: () => import('shiki/langs/c.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  shellscript: () => import('shiki/langs/shellscript.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
}

const theme = createCssVariablesTheme({ name: 'ink', variablePrefix: '--code-' })
const PREFIX = 'var(--code-token-'

let ready: Promise<HighlighterCore> | undefined

addEventListener('message', (event: MessageEvent<Asked>) => void answer(event.data))

async function answer({ id, code, language }: Asked): Promise<void> {
  ready ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
  const highlighter = await ready
  const grammar = await GRAMMARS[language]()
  await highlighter.loadLanguage(grammar.default)
  const lines = highlighter.codeToTokensBase(code, { lang: language, theme: 'ink' }).map((line) =>
    line.map((token): Piece => {
      const kind = token.color?.startsWith(PREFIX) ? token.color.slice(PREFIX.length, -1) : null
      return [token.content, kind]
    }),
  )
  const told: Told = { id, lines }
  postMessage(told)
}
