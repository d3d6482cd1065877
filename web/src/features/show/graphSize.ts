// How much room the graph gets. Beside the layout, so that the page knows its height before the drawing is loaded.

export const NODE = { width: 154, height: 28 }
/** More than this nobody reads as a picture, and drawing it would hold up the page. */
export const DRAWN_AT_MOST = 200
export const PADDING = 10 // px around the drawing
const SMALLEST = 0.8 // below that names are hard to read; what is larger is panned to
const TEXT = 12
const READABLE = 11 // px on the screen

/** 112 px for up to 4 plays, 160 for up to 20, 220 beyond. */
export function heightOf(plays: number): 112 | 160 | 220 {
  if (plays <= 4) return 112
  return plays <= 20 ? 160 : 220
}

type Size = { width: number; height: number }
export type View = { x: number; y: number; zoom: number; fits: boolean }

/**
 * The view that shows a whole drawing, never enlarged. One that is too large for reading begins at its left; `startY` is
 * the middle of what stands there.
 */
export function viewOf(drawing: Size, place: Size, startY = 0): View {
  const room = { width: place.width - 2 * PADDING, height: place.height - 2 * PADDING }
  const needed = Math.min(1, room.width / drawing.width, room.height / drawing.height)
  const zoom = Math.max(SMALLEST, needed)
  const free = { x: place.width - drawing.width * zoom, y: place.height - drawing.height * zoom }
  const isTall = free.y < 2 * PADDING
  return {
    x: Math.max(PADDING, free.x / 2),
    y: isTall ? Math.min(PADDING, Math.max(free.y - PADDING, place.height / 2 - startY * zoom)) : free.y / 2,
    zoom,
    fits: needed >= SMALLEST,
  }
}

export type Side = 'left' | 'right' | 'top' | 'bottom'

/** The sides on which more of a drawing is than the view shows. */
export function hiddenSides(drawing: Size, place: Size, view: Omit<View, 'fits'>): Side[] {
  const hidden: Record<Side, number> = {
    left: -view.x,
    right: view.x + drawing.width * view.zoom - place.width,
    top: -view.y,
    bottom: view.y + drawing.height * view.zoom - place.height,
  }
  return (['left', 'right', 'top', 'bottom'] as const).filter((side) => hidden[side] > 0)
}

/** The size of text in the drawing: it grows as the drawing shrinks, so that names can be read. */
export const textSizeAt = (zoom: number): number => Math.max(TEXT, READABLE / zoom)
