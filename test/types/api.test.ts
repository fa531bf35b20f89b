import assert from "node:assert/strict"
import { test } from "vitest"
import { declares, makes, sendDigest } from "./api.types.ts"

test("the module of typed API calls, which the compiler checks, can be loaded", () => {
  assert.equal(sendDigest.name, "send-digest")
  assert.equal(typeof makes, "function")
  assert.equal(typeof declares, "function")
})
