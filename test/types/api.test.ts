import assert from "node:assert/strict"
import { test } from "vitest"
import { declares, makes, sendDigest } from "./api.types.ts"

test("the API's promises about types are kept by the compiler, over code that also loads", () => {
  assert.equal(sendDigest.name, "send-digest")
  assert.equal(typeof makes, "function")
  assert.equal(typeof declares, "function")
})
