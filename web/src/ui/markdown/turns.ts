// Reading markdown takes long. What does not fit into a frame is read in one of the next ones, so that a page that is
// full of it can be scrolled all the while.

const ENOUGH = 8 // ms of a frame

let spent = 0
let isFrameAsked = false
const waiting = new Set<() => void>()

/** Whether it can be done now; those who wait already come first. */
export const isTimeLeft = (): boolean => waiting.size === 0 && spent < ENOUGH

/** Do something that takes long in this frame. */
export function spend<Made>(work: () => Made): Made {
  const began = performance.now()
  try {
    return work()
  } finally {
    spent += performance.now() - began
    askForFrame()
  }
}

/** Do it in one of the next frames, after all who came before. */
export function takeTurn(work: () => void): () => void {
  waiting.add(work)
  askForFrame()
  return () => waiting.delete(work)
}

function askForFrame(): void {
  if (isFrameAsked) return
  isFrameAsked = true
  requestAnimationFrame(() => setTimeout(begin)) // after the frame, which has enough to do
}

function begin(): void {
  isFrameAsked = false
  for (const work of waiting) {
    if (spent >= ENOUGH) break
    waiting.delete(work)
    spend(work)
  }
  spent = 0 // until the same place in the next frame
  if (waiting.size > 0) askForFrame()
}
