/**
 * Put a text on the clipboard, and say whether it is there. A page that came over plain HTTP from afar has no clipboard
 * of its own, and a browser may refuse.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard === undefined) return copyBySelection(text)
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The old way, which is allowed while a key or a button is pressed. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  const before = document.activeElement
  field.value = text
  field.setAttribute('aria-hidden', 'true')
  field.className = 'sr-only'
  const place = document.querySelector('[role="dialog"]') ?? document.body // a dialog lets nothing outside be selected
  place.append(field)
  try {
    field.focus({ preventScroll: true })
    field.select()
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  }
}
