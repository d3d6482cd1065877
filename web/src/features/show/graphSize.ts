// How much room the graph gets. Beside the layout, so that the page knows its height before the drawing is loaded.

export const NODE = { width: 154, height: 28 }
/** More than this nobody reads as a picture, and drawing it would hold up the page. */
export const DRAWN_AT_MOST = 200
const PADDING = 10
const SMALLEST = 0.46 // below that no name fits into its node; what is larger is panned to
const TEXT = 12
const READABLE = 10 // px on the screen
const LARGEST_TEXT = 21 // px in a node of 28

/** 112 px for up to 4 plays, 160 for up to 20, 220 beyond. */
export function heightOf(plays: number): 112 | 160 | 220 {
  if (plays <= 4) return 112
  return plays <= 20 ? 160 : 220
}

type Size = { width: number; height: number }
export type View = { x: number; y: number; zoom: number; fits: boolean }

/** The view that shows a whole drawing, never enlarged. One that is too large for reading begins at its upper left. */
export function viewOf(drawing: Size, place: Size): View {
  const room = { width: place.width - 2 * PADDING, height: place.height - 2 * PADDING }
  const needed = Math.min(1, room.width / drawing.width, room.height / drawing.height)
  const zoom = Math.max(SMALLEST, needed)
  const centred = (whole: number, part: number) => Math.max(PADDING, (whole - part * zoom) / 2)
  return {
    x: centred(place.width, drawing.width),
    y: centred(place.height, drawing.height),
    zoom,
    fits: needed >= SMALLEST,
  }
}

/** The size of text in the drawing: it grows as the drawing shrinks, so that names can be read. */
export const textSizeAt = (zoom: number): number =>
  Math.min(LARGEST_TEXT, Math.max(TEXT, Math.round(READABLE / zoom)))
