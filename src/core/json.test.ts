import fc from "fast-check"
import { assert, describe, test } from "vitest"
import { assertProperty } from "../../test/support/properties.ts"
import { thrownBy } from "../../test/support/records.ts"
import {
  canonicalJson,
  JSON_DEPTH_MAX,
  JSON_KEYS_MAX,
  type Json,
  PAYLOAD_MAX_BYTES,
  storableJson,
  storedJson,
  toPayload,
} from "./json.ts"

describe("a payload", () => {
  test.each([
    [undefined, null],
    [null, null],
    [0, 0],
    ["text", "text"],
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
    [{ kept: 1, absent: undefined }, { kept: 1 }],
    [{ at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  ])("%o is stored as %j", (value, stored) => {
    assert.deepEqual(toPayload(value, "Payload"), stored)
  })

  test.each([
    ["a NUL", "a\u0000b"],
    ["a NUL in a key", { "a\u0000": 1 }],
    ["half of a character", ["\ud83d"]],
    ["the other half", ["\ude00"]],
  ])("%s is refused: not every store could keep it", (_, value) => {
    const error = thrownBy(() => toPayload(value, "Payload of x"))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.equal(
      error.message,
      "Payload of x holds a text that no store keeps as it is: PostgreSQL keeps neither NUL nor half of a character.",
    )
  })

  test.each(["\\u0000", "\\\\u0000", "\\ud83d", "😀", "\u0001\ufffd"])(
    "%j is text like any other",
    (text) => {
      assert.equal(toPayload(text, "Payload"), text)
    },
  )

  test("what must not be refused is marked instead, and only that", () => {
    const text = JSON.stringify(["a\u0000b", "\ud83d", "😀", "\\u0000", "\\\u0000"])

    assert.deepEqual(JSON.parse(storableJson(text)), ["a\ufffdb", "\ufffd", "😀", "\\u0000", "\\\ufffd"])
  })

  test("is a private copy", () => {
    const value = { list: [1] }

    assert.notEqual(toPayload(value, "Payload"), value)
  })

  test("a key that names the prototype is only a key", () => {
    const payload = toPayload(JSON.parse('{"__proto__":{"admin":true}}'), "Payload") as object

    assert.deepEqual(Object.keys(payload), ["__proto__"])
    assert.isUndefined(({} as { admin?: boolean }).admin)
  })

  const circular: { self?: unknown } = {}
  circular.self = circular

  test.each([
    ["a big integer", { n: 1n }, /can't be written as JSON/],
    ["a circle", circular, /can't be written as JSON/],
    ["not a number", Number.NaN, /can't be written as JSON: TypeError: it is NaN/],
    ["not a number inside", { rate: Number.NaN }, /rate is NaN/],
    ["infinity", [Number.POSITIVE_INFINITY], /0 is Infinity/],
    ["a function", () => 1, /is a function, which JSON can't hold/],
    ["a function inside", { onDone: () => 1 }, /onDone is a function/],
    ["a symbol inside", [Symbol("x")], /0 is a symbol/],
    [
      "a getter that throws",
      {
        get secret() {
          throw new Error("no")
        },
      },
      /can't be written as JSON: Error: no/,
    ],
  ])("%s is refused rather than lost", (_, value, message) => {
    const error = thrownBy(() => toPayload(value, "Payload of x"))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.match(error.message, /^Payload of x /)
    assert.match(error.message, message)
  })

  test("that JSON can't write is refused with the cause", () => {
    assert.instanceOf(thrownBy(() => toPayload(circular, "Payload")).cause, TypeError)
  })

  test("is measured in bytes, quotes included", () => {
    const largest = "é".repeat((PAYLOAD_MAX_BYTES - 2) / 2)

    assert.equal(toPayload(largest, "Payload"), largest)
    const error = thrownBy(() => toPayload(`${largest}x`, "Payload"))
    assert.equal(error.code, "BELFRY_PAYLOAD_TOO_LARGE")
    assert.equal(error.message, "Payload has 1048577 bytes as JSON; at most 1048576 are stored.")
    assert.deepEqual(error.details, {
      option: "payload",
      bytes: PAYLOAD_MAX_BYTES + 1,
      limit: PAYLOAD_MAX_BYTES,
    })
  })
})

describe("a payload of too much", () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))

  test("has at most 10,000 keys, wherever they are; elements of lists don't count", () => {
    assert.doesNotThrow(() => toPayload(keys(JSON_KEYS_MAX), "It"))
    assert.doesNotThrow(() => toPayload(Array(100_000).fill(1), "It"))
    for (const value of [keys(JSON_KEYS_MAX + 1), [keys(JSON_KEYS_MAX), { one: 1 }]])
      assert.match(thrownBy(() => toPayload(value, "It")).message, /^It has more than 10000 keys/)
  })

  const KEYS = "It has more than 10000 keys; store the data elsewhere and pass a reference."
  const BYTES = "It has more than 1048576 bytes as JSON; at most 1048576 are stored."

  test.each([
    ["many keys", keys(100_000), "BELFRY_PAYLOAD_INVALID", KEYS],
    ["a million elements", Array(1_000_000).fill(1), "BELFRY_PAYLOAD_TOO_LARGE", BYTES],
    ["a list that is all holes", Array(10_000_000), "BELFRY_PAYLOAD_TOO_LARGE", BYTES],
    ["a text of 10 MB", { text: "x".repeat(10_000_000) }, "BELFRY_PAYLOAD_TOO_LARGE", BYTES],
  ])("%s is given up on before it is written", (_, value, code, message) => {
    const error = thrownBy(() => toPayload(value, "It"))

    assert.equal(error.code, code)
    assert.equal(error.message, message)
  })
})

describe("canonical text", () => {
  test("has its keys in order, at every depth, and lists as they are", () => {
    const text = canonicalJson({ b: [3, 1, { z: 1, a: 2 }], a: { d: null, c: true } })

    assert.equal(text, '{"a":{"c":true,"d":null},"b":[3,1,{"a":2,"z":1}]}')
  })

  test("means what it was made from, and is the same for the same meaning", () => {
    assertProperty(
      fc.property(fc.jsonValue({ noUnicodeString: false } as object), (value) => {
        fc.pre(!/\\u(0000|d[89a-f])/.test(JSON.stringify(value)))
        const stored = toPayload(value, "Payload")
        const text = canonicalJson(stored)

        assert.deepEqual(JSON.parse(text), stored)
        assert.equal(canonicalJson(JSON.parse(text) as Json), text)
      }),
    )
  })
})

describe("a payload nested deeper than any store should have to follow", () => {
  const listsIn = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as unknown
  const objectsIn = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`) as unknown

  test.each([
    ["lists", listsIn(JSON_DEPTH_MAX + 1)],
    ["objects", objectsIn(JSON_DEPTH_MAX + 1)],
    ["lists in an object", { inside: listsIn(JSON_DEPTH_MAX) }],
    ["lists after a text", ["text", listsIn(JSON_DEPTH_MAX)]],
    ["lists after a text that ends with a backslash", ["\\", listsIn(JSON_DEPTH_MAX)]],
  ])("is refused: %s", (_, value) => {
    const error = thrownBy(() => toPayload(value, "It"))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.equal(error.message, "It is nested deeper than 64 levels.")
  })

  test.each([
    ["lists that are as deep as may be", listsIn(JSON_DEPTH_MAX)],
    ["objects that are as deep as may be", objectsIn(JSON_DEPTH_MAX)],
    ["many lists beside each other", Array(100).fill([])],
    ["many objects beside each other", Array(100).fill({})],
    ["brackets in a text", "[".repeat(100)],
    ["brackets in a text after a quote", `"${"{".repeat(100)}`],
    ["brackets in a text after one that ends with a backslash", ["\\", "[".repeat(100)]],
  ])("isn't one of %s", (_, value) => {
    assert.deepEqual(toPayload(value, "It"), value as Json)
  })
})

test.each([
  ["a map in it", { a: { m: new Map() } }, "m is of type Map"],
  ["a set itself", new Set(), "it is of type Set"],
  ["a promise", [Promise.resolve()], "0 is of type Promise"],
])("what JSON would write as nothing is named: %s", (_, value, said) => {
  const error = thrownBy(() => toPayload(value, "The payload"))

  assert.equal(error.message, `The payload can't be written as JSON: TypeError: ${said}.`)
  assert.deepEqual(error.details, { option: "payload" })
})

describe("JSON that a store has kept", () => {
  const nested = (open: string, close: string, levels: number) =>
    `${open.repeat(levels)}1${close.repeat(levels)}`

  test.each([
    ["a number", "7", 7],
    ["an object", '{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
    ["a long text full of brackets", JSON.stringify("[{".repeat(100)), "[{".repeat(100)],
    ["a long list of lists", JSON.stringify(Array(100).fill([1])), Array(100).fill([1])],
  ])("is read: %s", (_, text, value) => {
    assert.deepEqual(storedJson(text), value)
  })

  test.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
    ["both", '[{"a":', "}]"],
  ])("may hold a payload of 64 levels and a little more: %s", (_, open, close) => {
    const each = open === '[{"a":' ? 36 : 72

    assert.doesNotThrow(() => storedJson(nested(open, close, each)))
    assert.throws(() => storedJson(nested(open, close, each + 1)), /^it is nested deeper than 72 levels$/)
  })

  test("is no JSON if it can't be read", () => {
    assert.throws(() => storedJson("{"), SyntaxError)
  })
})
