// The languages that code is coloured in, by the words people write after a fence. Each is loaded when it is met.

import type { LanguageRegistration } from 'shiki/core'

type Grammar = { default: LanguageRegistration[] }

export type Piece = [text: string, kind: string | null]
export type Asked = { id: number; code: string; language: string }
export type Told = { id: number; lines: Piece[][] }

const bash = (): Promise<Grammar> => import('shiki/langs/shellscript.mjs')
const javascript = (): Promise<Grammar> => import('shiki/langs/javascript.mjs')
const markdown = (): Promise<Grammar> => import('shiki/langs/markdown.mjs')
const python = (): Promise<Grammar> => import('shiki/langs/python.mjs')
const rust = (): Promise<Grammar> => import('shiki/langs/rust.mjs')
const typescript = (): Promise<Grammar> => import('shiki/langs/typescript.mjs')
const yaml = (): Promise<Grammar> => import('shiki/langs/yaml.mjs')

export const LANGUAGES: Readonly<Record<string, () => Promise<Grammar>>> = {
  bash,
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  dockerfile: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript,
  js: javascript,
  json: () => import('shiki/langs/json.mjs'),
  jsonc: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  makefile: () => import('shiki/langs/make.mjs'),
  markdown,
  md: markdown,
  py: python,
  python,
  rb: () => import('shiki/langs/ruby.mjs'),
  rs: rust,
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust,
  sh: bash,
  shell: bash,
  sql: () => import('shiki/langs/sql.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  ts: typescript,
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript,
  xml: () => import('shiki/langs/xml.mjs'),
  yaml,
  yml: yaml,
  zsh: bash,
}
