import { lazy } from 'react'

// Asked for at once, and not when the run is there: what it said is what most people come for.
const transcript = import('@/features/transcript/Transcript')
export const Transcript = lazy(async () => ({ default: (await transcript).Transcript }))
