/** Give a file to the person who looks at the page. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads it after this turn; a minute is enough for it to begin.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
