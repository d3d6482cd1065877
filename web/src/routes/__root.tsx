import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Visits } from '@/api/visits'
import { Shell } from '@/features/shell/Shell'
import { Toasts } from '@/ui/toasts'

const visits = new Visits()

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  // With the page that is shown, not with the one that is on its way, as the location would be.
  beforeLoad: ({ location, preload }) => ({
    visit: preload ? '' : visits.nameOf(location.state.__TSR_key ?? location.href),
  }),
  component: Root,
})

function Root() {
  return (
    <Toasts>
      <Shell>
        <Outlet />
      </Shell>
    </Toasts>
  )
}
