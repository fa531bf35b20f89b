/** The first of a list that goes on and on, in their order: at most so many. */
export async function collected<Item>(
  list: AsyncIterable<Item>,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const items: Item[] = []
  if (limit === 0) return items
  for await (const item of list) if (items.push(item) >= limit) break
  return items
}
