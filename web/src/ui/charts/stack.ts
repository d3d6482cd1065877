/** Times, and for each series its values upon those of the series below, the highest series first. */
export function stack(
  starts: readonly number[],
  series: readonly { values: readonly number[] }[],
): [number[], ...number[][]] {
  const below = starts.map(() => 0)
  const heights = series.map(({ values }) =>
    values.map((value, index) => {
      const height = (below[index] ?? 0) + value
      below[index] = height
      return height
    }),
  )
  return [[...starts], ...heights.reverse()]
}
