import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "vitest"
import { REFERENCE, renderReference } from "../../scripts/cli-reference.ts"
import { CONFIG_REFERENCE, renderConfigReference } from "../../scripts/config-reference.ts"

test("docs/reference/configuration.md is current (npx tsx scripts/config-reference.ts generates it)", () => {
  assert.equal(readFileSync(CONFIG_REFERENCE, "utf8"), renderConfigReference())
})

test("docs/reference/cli.md is current (npx tsx scripts/cli-reference.ts generates it)", () => {
  assert.equal(readFileSync(REFERENCE, "utf8"), renderReference())
})
