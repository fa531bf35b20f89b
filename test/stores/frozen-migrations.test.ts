import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { describe, test } from "vitest"
import { MIGRATIONS as POSTGRES } from "../../src/stores/postgres/migrations.ts"
import { NEWEST_MIGRATION } from "../../src/stores/postgres/schema/schema.ts"
import { MIGRATIONS as SQLITE } from "../../src/stores/sqlite/migrations.ts"

/** The SHA-256 of every released migration. Databases were migrated with exactly this text, so a change is a new migration. */
const RELEASED = {
  PostgreSQL: ["93f19e87f60cbd2cd361bef3f456e099ed9a99b0769d0b9525b0be9eeafb776c"],
  SQLite: ["2514e76f5e1ed512721acb7bc32f45fa03378a6c61ca54d616811346ea5b596a"],
} as const

describe.each([
  ["PostgreSQL", POSTGRES],
  ["SQLite", SQLITE],
] as const)("the migrations of %s", (store, migrations) => {
  test("are unchanged since their release", () => {
    const released = RELEASED[store]

    const found = migrations.slice(0, released.length).map(sha256)

    assert.deepEqual(found, released)
  })
})

test("PostgreSQL's newest migration equals its sources; to update it: npx tsx scripts/freeze-migration.ts", () => {
  assert.equal(POSTGRES.at(-1), NEWEST_MIGRATION)
})

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
