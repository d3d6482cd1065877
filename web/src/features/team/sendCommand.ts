/** A word as a shell takes it literally, whatever is in it. */
const quoted = (word: string): string =>
  /^[\w.][\w.-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

export const sendCommand = (team: string): string => `li team send ${quoted(team)} "…"`
