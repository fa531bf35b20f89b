import assert from "node:assert/strict"
import { test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { tryHostileOptions } from "../../support/hostile-options.ts"
import { aStore } from "./scratch.ts"

test("every hostile option is refused by its name, or stored unchanged", async () => {
  assert.ok((await tryHostileOptions(aStore(await migratedDatabase()))) > 100)
})
