import type { Schedule } from "../../src/core/schedule.ts"
import type { PostgresStore } from "../../src/postgres.ts"
import { aSchedule } from "../../src/store/laws/factories.ts"
import { connected } from "../../test/support/postgres.ts"

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Many schedules that differ in their id only: `prefix-1`, `prefix-2`… */
export async function storeSchedules(
  store: PostgresStore,
  url: string,
  about: { prefix: string; count: number; cron: string; from: Partial<Schedule> },
): Promise<void> {
  const { prefix, count, cron, from } = about
  const triggers = [{ kind: "cron", cron, dayMatch: "either" } as const]
  const payload = { customer: "c-1234567", kind: "digest" }
  await store.open()
  await store.putSchedule(aSchedule({ triggers, payload, ...from, id: `${prefix}-1` }), null)
  await copySchedule(url, prefix, count)
}

/** Schedules that aren't due before New Year. */
export async function storeYearly(store: PostgresStore, url: string, count: number): Promise<void> {
  const now = Date.now()
  const nextRunAt = Date.UTC(new Date(now).getUTCFullYear() + 1)
  const from = { task: "noted", nextRunAt, coveredUntil: now, createdAt: now }
  await storeSchedules(store, url, { prefix: "yearly", count, cron: "0 0 1 1 *", from })
}

/** Put one by one, a hundred thousand would take a minute. */
async function copySchedule(url: string, prefix: string, count: number): Promise<void> {
  await using client = await connected(url)
  const { rows } = await client.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_schema = 'belfry' and table_name = 'schedules' and column_name <> 'id'",
  )
  const columns = rows.map(({ name }) => `"${name}"`).join(", ")
  await client.query(
    `insert into belfry.schedules (id, ${columns})
     select '${prefix}-' || bench_number, ${columns}
     from belfry.schedules, generate_series(2, ${count}) as bench_number
     where id = '${prefix}-1'`,
  )
  await client.query("vacuum analyze belfry.schedules /* bench_ */")
}
