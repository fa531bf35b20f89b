import assert from "node:assert/strict"
import type { RunView } from "belfry"
import { test, vi } from "vitest"
import { terminal } from "../../cli/support.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { query } from "../../support/postgres.ts"
import { until } from "./scratch.ts"

vi.mock(import("../../../src/stores/postgres/postgres-store.ts"), async (load) => {
  const { withPatientStores } = await import("./patience.ts")
  return withPatientStores(await load())
})
vi.mock(import("../../../src/stores/postgres/own-pool.ts"), async (load) => {
  const { withPatientPools } = await import("./patience.ts")
  return withPatientPools(await load())
})

test("the program calls functions if it is configured to, and closes their connections when it stops", async () => {
  const url = await migratedDatabase()
  await query(
    url,
    `create schema app;
     create function app.naps(payload jsonb) returns jsonb language plpgsql as $$
     begin
       perform pg_sleep(payload::float);
       return jsonb_build_object('success', true, 'message', 'Slept ' || payload::text);
     end $$`,
  )
  const shell = terminal()
  shell.write(
    "belfry.config.json",
    JSON.stringify({ store: url, sql: { schemas: ["app"], timeout: "1h" }, stopTimeout: 0 }),
  )
  const ended = shell.run("start")
  await shell.shows(/Ctrl-C stops it/)

  await shell.run("task", "run", "sql", "--payload", '{"function":"naps","payload":0}', "--wait")
  const [run] = await shell.json<RunView[]>("run", "list")
  await shell.run("task", "run", "sql", "--payload", '{"function":"naps","payload":3600}')
  const connections =
    "select wait_event from pg_stat_activity where application_name = 'belfry' and datname = current_database()"
  const isAsleep = async () =>
    (await query<{ wait_event: string }>(url, connections)).some((each) => each.wait_event === "PgSleep")
  await until(isAsleep, "the function sleeps")
  shell.signal("SIGTERM")

  assert.equal((await ended).code, 0)
  assert.deepEqual([run?.state, run?.message], ["succeeded", "Slept 0"])
  await until(async () => (await query(url, connections)).length === 0, "its connections are closed")
})
