import { Fragment } from 'react'

/** A code such as run.completed.normal, which breaks after a dot where it has to. */
export function Dotted({ text }: { text: string }) {
  return text.split('.').map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part may be there twice, and none ever moves
    <Fragment key={place}>
      {place === 0 ? null : (
        <>
          .<wbr />
        </>
      )}
      {part}
    </Fragment>
  ))
}
