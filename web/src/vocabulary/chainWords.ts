// Counts of messages and lengths of time. A list has columns for them, and a sentence has better things to say.
const TOLD_ELSEWHERE = /^([\d,]+ messages?|[\d,]+[smhd]( \d+[smhd])?)$/

/** The words of a chain as a row shows them: without what another column of it says. */
export const wordsInRow = (words: readonly string[]): string[] =>
  words.filter((word) => !TOLD_ELSEWHERE.test(word))
