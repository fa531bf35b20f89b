import {
  addedCounters,
  bucketAt,
  type Counters,
  type StatisticsBucket,
} from "../../../core/records/statistics.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { Heartbeat, SummaryRequest } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableCounters } from "../../kit/readable-counters.ts"
import type { Prepared } from "../prepared.ts"

const SELECT_BATCH = `
  select batch
  from belfry_workers
  where id = ?`

const UPDATE_BATCH = `
  update belfry_workers
  set batch = ?
  where id = ?`

const SELECT_COUNTERS = `
  select counters
  from belfry_statistics
  where subject = ?
    and span_ms = ?
    and at = ?`

const UPSERT_COUNTERS = `
  insert or replace into belfry_statistics (subject, span_ms, at, expires_at, counters)
  values (?, ?, ?, ?, ?)`

/**
 * Returns whether the batch is added, by this call or an earlier one. The worker's record holds the number of its last batch.
 * Without a record nothing is added: a last heartbeat that is sent twice would add its batch twice.
 */
export function addBatch(connection: Prepared, { worker, statistics }: Heartbeat, now: Instant): boolean {
  if (statistics === null) return true
  const row = connection.prepare(SELECT_BATCH).get(worker.id) as { batch: number } | undefined
  if (row === undefined) return false
  if (statistics.number <= row.batch) return true
  for (const { subject, spans, agoMs, counters } of statistics.additions)
    for (const { ms, keptMs } of spans) {
      const at = bucketAt(now - agoMs, ms)
      const before = connection.prepare(SELECT_COUNTERS).get(subject, ms, at) as
        | { counters: string }
        | undefined
      const sum = addedCounters(readableCounters(before?.counters), counters)
      connection.prepare(UPSERT_COUNTERS).run(subject, ms, at, at + ms + keptMs, jsonText(sum))
    }
  connection.prepare(UPDATE_BATCH).run(statistics.number, worker.id)
  return true
}

export const SELECT_BUCKETS = `
  select at, counters
  from belfry_statistics
  where subject = ?
    and span_ms = ?
    and at >= ?
    and at < ?
    and expires_at > ?
  order by at
  limit ?`

export function summarise(
  connection: Prepared,
  { subject, spanMs, from, until, limit }: SummaryRequest,
  now: Instant,
): readonly StatisticsBucket[] {
  const rows = connection.prepare(SELECT_BUCKETS).all(subject, spanMs, from, until, now, limit)
  return (rows as { at: Instant; counters: string }[]).map(({ at, counters }): StatisticsBucket => {
    const read: Counters = readableCounters(counters)
    return { at, counters: read }
  })
}

const DELETE_EXPIRED = `
  delete from belfry_statistics
  where (subject, span_ms, at) in (
    select subject, span_ms, at
    from belfry_statistics
    where expires_at <= ?
    order by expires_at
    limit ?
  )`

export function pruneStatistics(connection: Prepared, limit: number, now: Instant): number {
  return Number(connection.prepare(DELETE_EXPIRED).run(now, limit).changes)
}
