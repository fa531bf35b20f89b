import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "vitest"
import { ERRORS } from "../src/core/errors.ts"

const page = readFileSync(new URL("../docs/reference/errors.md", import.meta.url), "utf8")

const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, code, status, when, remedy] = line.split("|").map((cell) => cell.trim())
    return { code: code!.replaceAll("`", ""), status: Number(status), when: when!, remedy: remedy! }
  })

test("docs/reference/errors.md lists exactly the existing error codes, with status and remedy", () => {
  const listed = Object.fromEntries(rows.map(({ code, status, remedy }) => [code, { status, remedy }]))

  assert.deepEqual(listed, ERRORS)
  assert.equal(rows.length, Object.keys(ERRORS).length, "no code is listed twice")
})

test("docs/reference/errors.md has a sentence for each error code that says when it happens", () => {
  for (const { code, when } of rows) assert.match(when, /^[A-Z`].{20,}\.$/, code)
})
