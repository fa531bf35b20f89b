import type { LogPage, StoredLogLine } from "../../store/store.ts"

/** The log lines of one run, ordered by (attempt, number). */

type Place = Pick<StoredLogLine, "attempt" | "number">

/** A line that is stored already stays unchanged. */
export function insertLine(log: StoredLogLine[], line: StoredLogLine): void {
  // Nearly every line is the newest, so the search starts at the end.
  let index = log.length
  while (index > 0 && comparePlaces(log[index - 1]!, line) > 0) index--
  const isStored = index > 0 && comparePlaces(log[index - 1]!, line) === 0
  if (!isStored) log.splice(index, 0, line)
}

export function pageOfLog(
  log: readonly StoredLogLine[],
  { after, limit }: LogPage,
): readonly StoredLogLine[] {
  return log.filter((line) => after === null || comparePlaces(line, after) > 0).slice(0, limit)
}

function comparePlaces(a: Place, b: Place): number {
  return a.attempt - b.attempt || a.number - b.number
}
