import assert from "node:assert/strict"
import { createScheduler, memory } from "belfry"
import { sqlFunctions } from "belfry/postgres"
import { onTestFinished, test } from "vitest"
import { collectedLog } from "../../support/collected-log.ts"
import { anSqlCaller, type SqlCaller } from "./sql-caller.ts"

/** Functions run with the rights of a role. A scheduler warns at its start of roles with too many rights. */

const self = anSqlCaller()

async function warningsOf(
  about: { user?: string; role?: string; roles?: readonly ("fire" | "work")[] } = {},
): Promise<readonly string[]> {
  const url = new URL(self.url)
  if (about.user !== undefined) url.username = about.user
  const { logger, lines } = collectedLog()
  const sql = sqlFunctions({ url: url.href, schemas: ["app"], ...(about.role && { role: about.role }) })
  const scheduler = createScheduler({ store: memory(), tasks: [sql], logger })

  await scheduler.start(about.roles === undefined ? {} : { roles: about.roles })
  await scheduler.stop()
  await sql.close()

  return lines.filter(({ level }) => level === "warn").map(({ message }) => message)
}

/** A role with a name unique to this process, because roles belong to the whole server. */
async function aRole({ psql }: SqlCaller, name: string, attributes: string): Promise<string> {
  const own = `belfry_test_${name}_${process.pid}`
  await psql.query(`drop role if exists ${own}`)
  await psql.query(`create role ${own} login ${attributes}`)
  onTestFinished(async () => {
    await psql.query(`drop role ${own}`)
  })
  return own
}

test.each([
  ["a superuser", "superuser", /which is a superuser\. Every user that may create a function/],
  ["a user that bypasses row-level security", "bypassrls", /which bypasses row-level security/],
  ["a member of pg_execute_server_program", "in role pg_execute_server_program", /which may run programs/],
])("a scheduler that calls functions as %s warns once at its start", async (_, attributes, expected) => {
  const user = await aRole(self, "powerful", attributes)

  const warnings = await warningsOf({ user })

  assert.equal(warnings.length, 1, warnings.join("\n"))
  assert.match(warnings[0]!, expected)
  assert.ok(warnings[0]!.includes(`"${user}"`))
})

test("a restricted role of a superuser is warned of, because a function can reset its role", async () => {
  const user = await aRole(self, "powerful", "superuser")
  const role = await aRole(self, "modest", "")

  assert.match((await warningsOf({ user, role })).join(), new RegExp(`"${user}", which is a superuser`))
})

test("a powerful role of a restricted user is warned of", async () => {
  const role = await aRole(self, "powerful", "bypassrls")
  const user = await aRole(self, "modest", `in role ${role}`)

  assert.match((await warningsOf({ user, role })).join(), new RegExp(`"${role}", which bypasses`))
})

test("a restricted user is not warned of", async () => {
  const user = await aRole(self, "modest", "")

  assert.deepEqual(await warningsOf({ user }), [])
})

test.each([
  ["that is not granted to the user", true],
  ["that does not exist", false],
])("a role %s is warned of, and a schedule of a function is refused", async (_which, exists) => {
  const user = await aRole(self, "modest", "")
  const role = exists ? await aRole(self, "apart", "") : "belfry_test_nowhere"
  const url = new URL(self.url)
  url.username = user
  const sql = sqlFunctions({ url: url.href, schemas: ["app"], role })
  onTestFinished(() => sql.close())
  const { schedules } = createScheduler({ store: memory(), tasks: [sql] })

  assert.match((await warningsOf({ user, role })).join(), new RegExp(`can't be called as the role "${role}"`))
  await assert.rejects(
    schedules.create("s", { task: sql, cron: "@daily", payload: { function: "app.any" } }),
    new RegExp(`Functions can't be called as the role "${role}"\\. PostgreSQL says: .*Grant the role`),
  )
})

test("a scheduler that only fires does not check the role", async () => {
  const user = await aRole(self, "powerful", "superuser")

  assert.deepEqual(await warningsOf({ user, roles: ["fire"] }), [])
})

test("an unreachable database does not stop the start", async () => {
  assert.deepEqual(await warningsOf({ user: "belfry_test_nobody_there" }), [])
})
