import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "vitest"
import { optionRows } from "./support/option-rows.ts"

const page = readFileSync(new URL("../docs/reference/api.md", import.meta.url), "utf8")

test("docs/reference/api.md lists every option with its allowed values (npx tsx scripts/option-reference.ts)", () => {
  const [, section = ""] = page.split("## What options may be")
  const listed = section.split("\n").filter((line) => line.startsWith("| `"))
  assert.deepEqual(listed, optionRows())
})
