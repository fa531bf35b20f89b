import assert from "node:assert/strict"
import { test } from "vitest"
import { tryHostileOptions } from "../../support/hostile-options.ts"
import { aPath, aStore } from "./scratch.ts"

test("every option is refused by its name, or kept as it is", async () => {
  assert.ok((await tryHostileOptions(aStore(aPath()))) > 100)
})
