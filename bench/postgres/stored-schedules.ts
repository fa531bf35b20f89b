import type { NewSchedule } from "../../src/core/schedule/schedule.ts"
import type { PostgresStore } from "../../src/postgres.ts"
import { connected } from "../../test/support/postgres.ts"

/** Stores `count` copies of a schedule as `prefix-1`, `prefix-2`…: the first by Belfry, the others by one SQL statement. */
export async function putMany(
  store: PostgresStore,
  url: string,
  { schedule, prefix, count }: { schedule: NewSchedule; prefix: string; count: number },
): Promise<void> {
  await store.open()
  await store.putSchedule({ ...schedule, id: `${prefix}-1` }, null)
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
  // ANALYZE invalidates the plans of all connections. So it is done only for large counts, which are stored before others
  // connect.
  if (count >= 100_000) await client.query("vacuum analyze belfry.schedules /* bench_ */")
}
