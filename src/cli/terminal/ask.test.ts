import assert from "node:assert/strict"
import { PassThrough } from "node:stream"
import { describe, test } from "vitest"
import { askOn, Interrupted } from "./ask.ts"

describe("a question on a terminal", () => {
  function typed(keys: string): { answer: Promise<string>; shown: () => string } {
    const [input, output] = [new PassThrough(), new PassThrough()]
    let text = ""
    output.on("data", (part) => {
      text += String(part)
    })
    const answer = askOn("Delete it? [y/N] ", { input, output })
    input.write(keys)
    return { answer, shown: () => text }
  }

  test("returns the line that was typed", async () => {
    assert.equal(await typed("y\r").answer, "y")
  })

  test("Ctrl-D means no, and ends the line", async () => {
    const { answer, shown } = typed("\u0004")

    assert.equal(await answer, "no")
    assert.match(shown(), /\n$/)
  })

  test("Ctrl-C interrupts the program", async () => {
    const { answer, shown } = typed("\u0003")

    await assert.rejects(answer, Interrupted)
    assert.match(shown(), /\n$/)
  })
})
