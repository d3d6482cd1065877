// The languages that code is coloured in, by the words people write after a fence.

export type Piece = [text: string, kind: string | null]
export type Asked = { id: number; code: string; language: Language }
export type Told = { id: number; lines: Piece[][] }

export const LANGUAGES = {
  bash: 'shellscript',
  c: 'c',
  'c++': 'c',
  cpp: 'c',
  css: 'css',
  diff: 'diff',
  docker: 'docker',
  dockerfile: 'docker',
  go: 'go',
  html: 'html',
  ini: 'ini',
  java: 'java',
  javascript: 'javascript',
  js: 'javascript',
  json: 'json',
  jsonc: 'json',
  jsx: 'tsx',
  make: 'make',
  makefile: 'make',
  markdown: 'markdown',
  md: 'markdown',
  patch: 'diff',
  py: 'python',
  python: 'python',
  rb: 'ruby',
  rs: 'rust',
  ruby: 'ruby',
  rust: 'rust',
  sh: 'shellscript',
  shell: 'shellscript',
  sql: 'sql',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'tsx',
  typescript: 'typescript',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
  zsh: 'shellscript',
} as const satisfies Record<string, string>

export type Language = (typeof LANGUAGES)[keyof typeof LANGUAGES]

/** The language of a fence, if it is one that is coloured. */
export function languageOf(word: string): Language | null {
  return Object.hasOwn(LANGUAGES, word) ? LANGUAGES[word as keyof typeof LANGUAGES] : null
}
