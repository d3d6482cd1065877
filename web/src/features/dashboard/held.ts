// Lists of other pages hold still in the same way.
export { arrange, type Shown, useHeld } from '@/lib/held'
