import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

// `make dev` serves the pages from here and asks a running studio for everything else.
const studio = process.env.STUDIO ?? 'http://127.0.0.1:8765'

export default defineConfig({
  plugins: [tanstackRouter({ target: 'react', autoCodeSplitting: true }), react(), tailwindcss()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: '../src/lionstudio/web',
    emptyOutDir: true,
    target: 'es2023',
    // The content security policy allows no inline script, and a preload list would be one.
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': studio, '/login': studio } },
  test: { environment: 'jsdom', setupFiles: './src/test/setup.ts', css: false },
})
