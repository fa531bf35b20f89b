import assert from "node:assert/strict"
import { test } from "vitest"
import { tryHostileOptions } from "../../support/hostile-options.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { aStore } from "./scratch.ts"

test("every hostile option is refused by its name, or stored unchanged", async () => {
  const place = freshPrefix()
  assert.ok((await tryHostileOptions(aStore(place.url, { prefix: place.prefix }))) > 100)
})
