import type { Schedule } from "../../src/core/schedule.ts"
import type { PostgresStore } from "../../src/postgres.ts"
import { connected } from "../../test/support/postgres.ts"

/** The same schedule so many times, as `prefix-1`, `prefix-2`…: the first by Belfry, the others by the server. */
export async function putMany(
  store: PostgresStore,
  url: string,
  { schedule, prefix, count }: { schedule: Schedule; prefix: string; count: number },
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
  // Everyone's plans are made anew after it, so it is for the many only, which are stored before anybody begins.
  if (count >= 100_000) await client.query("vacuum analyze belfry.schedules /* bench_ */")
}
