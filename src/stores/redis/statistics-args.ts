import type { Counters } from "../../core/records/statistics.ts"
import type { StatisticsBatch } from "../../store/store.ts"

/** The arguments of a batch for `lua/statistics.ts`; none without a batch. */
export function batchArgs(batch: StatisticsBatch | null): readonly (string | number)[] {
  if (batch === null) return []
  const additions = batch.additions.flatMap(({ subject, spans, agoMs, counters }) =>
    spans.flatMap(({ ms, keptMs }) => [ms, keptMs, agoMs, subject, countersText(counters)]),
  )
  return [batch.number, ...additions]
}

function countersText(counters: Counters): string {
  return Object.entries(counters).flat().join(" ")
}

/** Counters that are not numbers are left out. */
export function countersIn(text: string): Counters {
  const words = text.split(" ")
  const pairs = words.flatMap((name, index) =>
    index % 2 === 0 ? [[name, Number(words[index + 1])] as const] : [],
  )
  return Object.fromEntries(pairs.filter(([name, count]) => name !== "" && Number.isFinite(count)))
}
