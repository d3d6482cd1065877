/** A word as a shell takes it literally, whatever is in it. */
export const quoted = (word: string): string =>
  /^[\w.][\w.-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
