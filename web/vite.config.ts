import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

// With this vitest tells which test failed, and Node 20 does not have it yet.
if (!('groupBy' in Map)) {
  const groupBy = <Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> => {
    const groups = new Map<Key, Item[]>()
    for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
    return groups
  }
  Object.assign(Map, { groupBy })
}

// `make dev` serves the pages from here and asks a running studio for everything else.
const studio = process.env.STUDIO ?? 'http://127.0.0.1:8765'

// The server sends these to whoever can unpack them, and spends no time on packing.
function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        for (const [name, made] of Object.entries(bundle)) {
          if (!/\.(css|html|js|svg)$/.test(name)) continue
          const source = await promisify(gzip)(made.type === 'chunk' ? made.code : made.source, { level: 9 })
          this.emitFile({ type: 'asset', fileName: `${name}.gz`, source })
        }
      },
    },
  }
}

export default defineConfig({
  plugins: [tanstackRouter({ target: 'react', autoCodeSplitting: true }), react(), tailwindcss(), packed()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: '../src/lionstudio/web',
    emptyOutDir: true,
    target: 'es2023',
    // The policy allows files of our own only, and what is inlined is none.
    assetsInlineLimit: 0,
    // The content security policy allows no inline script, and a preload list would be one.
    modulePreload: { polyfill: false },
    // How long each plugin took says something about the load of the machine only.
    rolldownOptions: {
      checks: { bundlerTimings: false },
      // What every page needs is one file. Left alone it is twenty, and a browser asks for six at a time.
      output: { codeSplitting: { groups: [{ name: 'studio', tags: ['$initial'] }] } },
    },
  },
  worker: { format: 'es' }, // it loads a grammar when it meets one
  // Without changing the host: the studio compares it with the origin of the page.
  server: { proxy: { '/api': { target: studio }, '/login': { target: studio } } },
  // Tests that need a page say so in their first line: to start one takes longer than most files.
  test: { pool: 'threads', isolate: false, setupFiles: './src/test/setup.ts', css: false },
})
