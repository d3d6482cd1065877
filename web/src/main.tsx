import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { StudioError } from './api/client'
import { startLive } from './api/live'
import { keepPageWithoutParts } from './lib/missingParts'
import { followTheme } from './lib/theme'
import { createAppRouter, loadParts } from './router'
import './styles/main.css'

// What the server has refused it refuses again; what did not arrive may arrive the second time.
const mayRetry = (failures: number, error: Error): boolean =>
  failures < 1 && !(error instanceof StudioError && error.status >= 400 && error.status < 500)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What changes is told by the live feed, so nothing is asked again on a timer or because a window got the focus.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: mayRetry,
      networkMode: 'always', // the studio is on this machine, whatever the browser thinks of the internet
    },
    mutations: { networkMode: 'always' },
  },
})
const router = createAppRouter(queries)
followTheme()
keepPageWithoutParts()

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no root')
const app = createRoot(root)
const live = startLive(queries)
loadParts(router)
// Whoever reads before the feed is heard would have to read again.
void live.ready.then(() =>
  app.render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  ),
)
