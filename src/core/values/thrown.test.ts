import { assert, describe, test } from "vitest"
import { describeThrown, storable } from "./thrown.ts"

function anError(message: string, fields: object = {}): Error {
  return Object.assign(new TypeError(message), { stack: `TypeError: ${message}\n    at send.ts:1` }, fields)
}

const CIRCULAR: { self?: object } = {}
CIRCULAR.self = CIRCULAR

describe("thrown values as text", () => {
  test.each([
    ["an error", anError("no"), "TypeError: no\n    at send.ts:1"],
    ["an error without a stack", anError("no", { stack: undefined }), "TypeError: no"],
    ["an error with an empty stack", anError("no", { stack: "" }), "TypeError: no"],
    ["an error whose stack isn't text", anError("no", { stack: [1] }), "TypeError: no"],
    [
      "an error with a cause",
      anError("outer", { cause: anError("inner") }),
      "TypeError: outer\n    at send.ts:1\nCaused by: TypeError: inner\n    at send.ts:1",
    ],
    [
      "an error whose cause has no stack",
      anError("outer", { stack: "TypeError: outer", cause: anError("inner", { stack: undefined }) }),
      "TypeError: outer\nCaused by: inner",
    ],
    [
      "an error whose cause is text",
      anError("outer", { stack: "TypeError: outer", cause: "a reason" }),
      "TypeError: outer\nCaused by: a reason",
    ],
    ["text", "no", "no"],
    ["a number", 5, "number 5"],
    ["undefined", undefined, "undefined undefined"],
    ["null", null, "object null"],
    ["an object", { code: 5 }, '{"code":5}'],
    ["an object that JSON omits", { toJSON: () => undefined }, "[object Object]"],
    ["a circular object", CIRCULAR, "A thrown object that can't be described"],
  ])("%s is described as text", (_, thrown, text) => {
    assert.equal(describeThrown(thrown), text)
  })

  test("the text is cut to 8 KiB", () => {
    assert.equal(describeThrown("x".repeat(8_192)), "x".repeat(8_192))
    assert.match(describeThrown("x".repeat(8_193)), /^x{7000,8190}… \(cut\)$/)
  })
})

describe("text for every store", () => {
  test.each([
    ["as it is", "as it is"],
    ["a\0b\0", "a\ufffdb\ufffd"],
    ["half \ud83d of it", "half \ufffd of it"],
    ["exactly twenty chars", "exactly twenty chars"],
    ["é".repeat(10), "é".repeat(10)],
  ])("the text %j is stored as %j", (text, kept) => {
    assert.equal(storable(text, 20), kept)
  })

  test.each([["x".repeat(21)], ["é".repeat(11)], ["😀".repeat(6)], ["€".repeat(1_000_000)]])(
    "a text that is too long is cut and marked, and stays within the limit",
    (text) => {
      const kept = storable(text, 20)

      assert.match(kept, /^.+… \(cut\)$/u)
      assert.isAtMost(Buffer.byteLength(kept), 20)
      assert.isTrue(kept.isWellFormed())
    },
  )
})
