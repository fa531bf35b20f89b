import assert from "node:assert/strict"
import { test } from "vitest"
import { terminal } from "../cli/support.ts"

/** Only the configuration of the program enables the task `sql`. */

test("without the setting `sql` there is no task `sql`", async () => {
  const shell = terminal()
  await shell.run("migrate")

  const tasks = await shell.json<{ name: string }[]>("task", "list")

  assert.deepEqual(
    tasks.map(({ name }) => name),
    ["http"],
  )
})

test.each([
  [{ sql: { schemas: ["app"] } }, /the store is not a PostgreSQL database/],
  [{ sql: { schemas: ["app"] }, store: "./belfry.db" }, /the store is not a PostgreSQL database/],
  [{ sql: { schemas: ["app"], schema: "app" } }, /unknown part "schema"/],
  [{ sql: { url: "postgres://localhost/x" } }, /schemas is undefined; use a list of schemas/],
  [{ sql: { url: "postgres://localhost/x", schemas: ["pg_catalog"] } }, /PostgreSQL's own/],
  [{ sql: true }, /"sql" .* has the wrong type/],
])("%j is refused at start", async (config, what) => {
  const shell = terminal()
  shell.write("belfry.config.json", JSON.stringify(config))

  const { code, err } = await shell.run("start")

  assert.notEqual(code, 0)
  assert.match(err, what)
})

test("a password in the setting `sql` is not shown", async () => {
  const shell = terminal()
  const sql = { url: "postgres://me:hunter2@localhost/x", schemas: ["app"] }
  shell.write("belfry.config.json", JSON.stringify({ sql }))

  const { out } = await shell.run("config", "explain")

  assert.match(out, /sql\s+url, schemas/)
  assert.doesNotMatch(out, /hunter2/)
})

test("a run of a function in a schema that is not allowed is refused", async () => {
  const shell = terminal()
  shell.write(
    "belfry.config.json",
    JSON.stringify({ sql: { url: "postgres://localhost/x", schemas: ["app"] } }),
  )
  await shell.run("migrate")

  const { code, err } = await shell.run("task", "run", "sql", "--payload", '{"function":"pg_catalog.f"}')

  assert.notEqual(code, 0)
  assert.match(err, /schema "pg_catalog" is not allowed here/)
})
