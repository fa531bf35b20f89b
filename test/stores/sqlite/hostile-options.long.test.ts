import assert from "node:assert/strict"
import { test } from "vitest"
import { tryHostileOptions } from "../../support/hostile-options.ts"
import { aPath, aStore } from "./scratch.ts"

test("every hostile value of an option is refused with the option's name, or kept unchanged", async () => {
  assert.ok((await tryHostileOptions(aStore(aPath()))) > 100)
})
