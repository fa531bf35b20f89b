import {
  addedCounters,
  bucketAt,
  type Counters,
  type StatisticsBucket,
} from "../../core/records/statistics.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { StatisticsBatch, SummaryRequest } from "../../store/store.ts"

interface Bucket extends StatisticsBucket {
  readonly expiresAt: Instant
}

/** Buckets by subject and span, then by the instant at which they begin. */
export class Statistics {
  readonly #buckets = new Map<string, Map<Instant, Bucket>>()
  /** The newest batch that was added, by worker. */
  readonly #batches = new Map<string, number>()

  add(workerId: string, { number, additions }: StatisticsBatch, now: Instant): void {
    if (number <= (this.#batches.get(workerId) ?? 0)) return
    this.#batches.set(workerId, number)
    for (const { subject, spans, agoMs, counters } of additions)
      for (const { ms, keptMs } of spans) {
        const at = bucketAt(now - agoMs, ms)
        this.#add(keyOf(subject, ms), { at, counters, expiresAt: at + ms + keptMs })
      }
  }

  #add(key: string, bucket: Bucket): void {
    const buckets = this.#buckets.get(key) ?? new Map<Instant, Bucket>()
    this.#buckets.set(key, buckets)
    const before: Counters = buckets.get(bucket.at)?.counters ?? {}
    buckets.set(bucket.at, { ...bucket, counters: addedCounters(before, bucket.counters) })
  }

  summarise(
    { subject, spanMs, from, until, limit }: SummaryRequest,
    now: Instant,
  ): readonly StatisticsBucket[] {
    return [...(this.#buckets.get(keyOf(subject, spanMs))?.values() ?? [])]
      .filter(({ at, expiresAt }) => at >= from && at < until && expiresAt > now)
      .sort((a, b) => a.at - b.at)
      .slice(0, limit)
      .map(({ at, counters }) => ({ at, counters }))
  }

  prune(now: Instant, limit: number): number {
    let deleted = 0
    for (const [key, buckets] of this.#buckets) {
      for (const { at, expiresAt } of buckets.values())
        if (expiresAt <= now && deleted < limit && buckets.delete(at)) deleted++
      if (buckets.size === 0) this.#buckets.delete(key)
    }
    return deleted
  }
}

function keyOf(subject: string, spanMs: number): string {
  return `${spanMs} ${subject}`
}
