/** Which bar is pointed at, and how far to the right that is, from 0 to 1. */
export type Pointed = { index: number; left: number }

/** What is said about the bar that is pointed at, above the picture. */
export function ReadOut({ text, left }: { text: string; left: number }) {
  return (
    <span
      className="absolute bottom-full mb-1 rounded-control bg-accent px-2 py-1 text-11 whitespace-nowrap text-on-accent shadow-2"
      style={left > 0.5 ? { right: 0 } : { left: 0 }}
    >
      {text}
    </span>
  )
}
