import type { QueryClient } from '@tanstack/react-query'
import { type AnyRoute, createRouter } from '@tanstack/react-router'
import { PageBroken, PageNotFound, PagePending } from './features/shell/RouteStates'
import { routeTree } from './routeTree.gen'

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0, // the queries know what is fresh
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PagePending,
    defaultErrorComponent: PageBroken,
    defaultNotFoundComponent: PageNotFound,
    scrollRestoration: true,
  })
}

/** Fetch the parts of the page that the address names. One that does not come is told when the page is drawn. */
export function loadParts(router: ReturnType<typeof createAppRouter>): void {
  const routes = new Map<string, AnyRoute>(Object.entries(router.routesById))
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const route = routes.get(routeId)
    if (route !== undefined) router.loadRouteChunk(route)?.catch(() => undefined)
  }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
