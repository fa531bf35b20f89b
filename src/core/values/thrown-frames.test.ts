import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { describeThrown } from "./thrown.ts"

describe("stacks without the frames of the engine", () => {
  function thrown(stack: string, cause?: string): Error {
    const error = cause === undefined ? new Error("no") : new Error("no", { cause: thrown(cause) })
    error.stack = stack
    return error
  }

  test.each([
    [
      "a task that throws at once",
      "    at Engine.#call (/b/engine.js:3:1)\n    at new Promise (<anonymous>)",
    ],
    [
      "a task that throws later",
      "    at async Engine.#call (/b/engine.js:3:1)\n    at async Loop.#turn (/b/loop.js:1:1)",
    ],
  ])("the frames of the engine are removed from the stack of %s", (_, ours) => {
    const error = thrown(`Error: no\n    at report (/app/report.ts:7:9)\n${ours}`)

    assert.equal(describeThrown(error, "Engine.#call"), "Error: no\n    at report (/app/report.ts:7:9)")
    assert.equal(describeThrown(error), error.stack)
  })

  test("the frames of the engine are removed from the stack of a cause too", () => {
    const ours = "    at Engine.#call (/b/engine.js:3:1)"
    const error = thrown(
      `Error: no\n    at report (/app/report.ts:7:9)\n${ours}`,
      `Error: away\n    at connect (/app/db.ts:1:1)\n${ours}`,
    )

    assert.equal(
      describeThrown(error, "Engine.#call"),
      "Error: no\n    at report (/app/report.ts:7:9)\nCaused by: Error: away\n    at connect (/app/db.ts:1:1)",
    )
  })

  test("a message that looks like a frame isn't removed", () => {
    for (const message of ["  at Engine.#call", "Look at Engine.#call (again)"])
      assert.equal(describeThrown(message, "Engine.#call"), message)
  })
})
