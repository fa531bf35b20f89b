import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "vitest"
import { REFERENCE, renderReference } from "../../scripts/cli-reference.ts"

test("docs/reference/cli.md is what the table of commands says (npx tsx scripts/cli-reference.ts writes it)", () => {
  assert.equal(readFileSync(REFERENCE, "utf8"), renderReference())
})
