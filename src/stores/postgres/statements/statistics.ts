import type {
  StatisticsAddition,
  StatisticsBucket,
  StatisticsSpan,
} from "../../../core/records/statistics.ts"
import type { StatisticsBatch, SummaryRequest } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableCounters } from "../../kit/readable-counters.ts"
import type { Runner } from "../database.ts"
import { type ListColumn, listsOf, rowsOfLists } from "../lists.ts"
import { CLOCK, instantFrom, instantOf, ms, NOW, spanFrom } from "../rows.ts"

type Spanned = StatisticsAddition & { readonly span: StatisticsSpan }

const ADDITION: readonly ListColumn<Spanned>[] = [
  ["subject", "text", ({ subject }) => subject],
  ["span_ms", "bigint", ({ span }) => span.ms],
  ["kept_ms", "bigint", ({ span }) => span.keptMs],
  ["ago_ms", "bigint", ({ agoMs }) => Math.round(agoMs)],
  ["counters", "text", ({ counters }) => jsonText(counters)],
]

/**
 * The worker's record holds the number of its last batch, so that no batch is added twice. Additions to the same bucket are
 * summed first. Buckets are locked in the order of their keys, so that two calls cannot deadlock.
 */
const ADD_BATCH = `
  with ${CLOCK},
  worker as (
    update belfry.workers
    set batch = $2
    where id = $1
      and batch < $2
    returning id
  ),
  buckets as (
    select a.subject,
      a.span_ms,
      a.kept_ms,
      pg_catalog.floor(${ms(`clock.now - ${spanFrom("a.ago_ms")}`)} / a.span_ms::float8) * a.span_ms::float8 as at_ms,
      a.counters::jsonb as counters
    from (${rowsOfLists(ADDITION, 3)}) as a
    cross join clock
    cross join worker
  ),
  summed as (
    select n.subject, n.span_ms, n.at_ms, pg_catalog.max(n.kept_ms) as kept_ms, pg_catalog.jsonb_object_agg(n.key, n.sum) as counters
    from (
      select b.subject, b.span_ms, b.at_ms, pg_catalog.max(b.kept_ms) as kept_ms, c.key, pg_catalog.sum(c.value::numeric) as sum
      from buckets as b
      cross join lateral pg_catalog.jsonb_each_text(b.counters) as c
      group by b.subject, b.span_ms, b.at_ms, c.key
    ) as n
    group by n.subject, n.span_ms, n.at_ms
  ),
  added as (
    insert into belfry.statistics as s (subject, span_ms, at, expires_at, counters)
    select b.subject,
      b.span_ms,
      ${instantFrom("b.at_ms")},
      ${instantFrom("(b.at_ms + b.span_ms::float8 + b.kept_ms::float8)")},
      b.counters
    from summed as b
    order by b.subject, b.span_ms, b.at_ms
    on conflict (subject, span_ms, at) do update
    set counters = belfry.added_counters(s.counters, excluded.counters),
      expires_at = greatest(s.expires_at, excluded.expires_at)
  )
  select 1 from worker`

const SELECT_BATCH = "select w.batch from belfry.workers as w where w.id = $1"

/** Returns whether the batch is stored, by this call or an earlier one. */
export async function addBatch(
  runner: Runner,
  workerId: string,
  batch: StatisticsBatch | null,
): Promise<boolean> {
  if (batch === null) return true
  const spanned = batch.additions.flatMap((addition) => addition.spans.map((span) => ({ ...addition, span })))
  const [added] = await runner.rows(ADD_BATCH, [workerId, batch.number, ...listsOf(ADDITION, spanned)])
  if (added !== undefined) return true
  const [row] = await runner.rows(SELECT_BATCH, [workerId])
  return row !== undefined && Number(row[0]) >= batch.number
}

const SELECT_BUCKETS = `
  select ${ms("s.at")}, s.counters
  from belfry.statistics as s
  where s.subject = $1
    and s.span_ms = $2::bigint
    and s.at >= ${instantFrom("$3")}
    and s.at < ${instantFrom("$4")}
    and s.expires_at > ${NOW}
  order by s.at
  limit $5`

export async function summarise(
  runner: Runner,
  { subject, spanMs, from, until, limit }: SummaryRequest,
): Promise<readonly StatisticsBucket[]> {
  const rows = await runner.rows(SELECT_BUCKETS, [subject, spanMs, from, until, limit])
  return rows.map(([at, counters]) => ({ at: instantOf(at!), counters: readableCounters(counters) }))
}

/** By ctid: with a list of keys, the planner would compare the list with every row. */
const DELETE_EXPIRED = `
  delete from belfry.statistics
  where ctid = any (array(
    select s.ctid
    from belfry.statistics as s
    where s.expires_at <= (select ${NOW})
    order by s.expires_at
    limit $1
  ))
  returning 1`

export async function pruneStatistics(runner: Runner, limit: number): Promise<number> {
  return (await runner.rows(DELETE_EXPIRED, [limit])).length
}
