import '@testing-library/jest-dom/vitest'
import { setMaxListeners } from 'node:events'
import { cleanup } from '@testing-library/react'
import { afterEach } from 'vitest'

setMaxListeners(100) // a list of many pages listens once for each; Node takes more than ten for a leak
afterEach(cleanup)
