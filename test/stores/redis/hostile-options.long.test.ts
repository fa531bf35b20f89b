import assert from "node:assert/strict"
import { test } from "vitest"
import { tryHostileOptions } from "../../support/hostile-options.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { aStore } from "./scratch.ts"

test("every option is refused by its name, or kept as it is", async () => {
  const place = freshPrefix()
  assert.ok((await tryHostileOptions(aStore(place.url, { prefix: place.prefix }))) > 100)
})
