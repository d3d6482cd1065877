import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Shell } from '@/features/shell/Shell'
import { Toasts } from '@/ui/toasts'

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Root })

function Root() {
  return (
    <Toasts>
      <Shell>
        <Outlet />
      </Shell>
    </Toasts>
  )
}
