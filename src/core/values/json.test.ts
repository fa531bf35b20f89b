import fc from "fast-check"
import { assert, describe, test } from "vitest"
import { assertProperty } from "../../../test/support/properties.ts"
import { thrownBy } from "../../../test/support/records.ts"
import {
  canonicalJson,
  isJsonObject,
  JSON_DEPTH_MAX,
  JSON_KEYS_MAX,
  type Json,
  PAYLOAD_MAX_BYTES,
  storableJson,
  storedJson,
  toPayload,
} from "./json.ts"

describe("payloads", () => {
  test.each([
    [undefined, null],
    [null, null],
    [0, 0],
    ["text", "text"],
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
    [{ kept: 1, absent: undefined }, { kept: 1 }],
    [{ at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  ])("the payload %o is stored as %j", (value, stored) => {
    assert.deepEqual(toPayload(value, "Payload"), stored)
  })

  test.each([
    ["a NUL", "a\u0000b"],
    ["a NUL in a key", { "a\u0000": 1 }],
    ["a high surrogate alone", ["\ud83d"]],
    ["a low surrogate alone", ["\ude00"]],
  ])("a payload with %s is refused, because PostgreSQL can't store it", (_, value) => {
    const error = thrownBy(() => toPayload(value, "Payload of x"))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.equal(
      error.message,
      "Payload of x contains text that can't be stored: PostgreSQL accepts neither NUL nor an unpaired surrogate.",
    )
  })

  test.each(["\\u0000", "\\\\u0000", "\\ud83d", "😀", "\u0001\ufffd"])(
    "the payload %j is accepted",
    (text) => {
      assert.equal(toPayload(text, "Payload"), text)
    },
  )

  test("storableJson replaces NULs and lone surrogates by U+FFFD and changes nothing else", () => {
    const text = JSON.stringify(["a\u0000b", "\ud83d", "😀", "\\u0000", "\\\u0000"])

    assert.deepEqual(JSON.parse(storableJson(text)), ["a\ufffdb", "\ufffd", "😀", "\\u0000", "\\\ufffd"])
  })

  test("a payload is a copy of the given value", () => {
    const value = { list: [1] }

    assert.notEqual(toPayload(value, "Payload"), value)
  })

  test("the key __proto__ is stored like any other key", () => {
    const payload = toPayload(JSON.parse('{"__proto__":{"admin":true}}'), "Payload") as object

    assert.deepEqual(Object.keys(payload), ["__proto__"])
    assert.isUndefined(({} as { admin?: boolean }).admin)
  })

  const circular: { self?: unknown } = {}
  circular.self = circular

  test.each([
    ["a big integer", { n: 1n }, /can't be written as JSON/],
    ["a circular reference", circular, /can't be written as JSON/],
    ["NaN", Number.NaN, /can't be written as JSON: TypeError: it is NaN/],
    ["NaN in an object", { rate: Number.NaN }, /rate is NaN/],
    ["infinity", [Number.POSITIVE_INFINITY], /0 is Infinity/],
    ["a function", () => 1, /is a function, which JSON can't hold/],
    ["a function in an object", { onDone: () => 1 }, /onDone is a function/],
    ["a symbol in a list", [Symbol("x")], /0 is a symbol/],
    [
      "a getter that throws",
      {
        get secret() {
          throw new Error("no")
        },
      },
      /can't be written as JSON: Error: no/,
    ],
  ])("a payload that is or holds %s is refused, because JSON would lose it", (_, value, message) => {
    const error = thrownBy(() => toPayload(value, "Payload of x"))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.match(error.message, /^Payload of x /)
    assert.match(error.message, message)
  })

  test("the error for a payload that JSON can't represent has a cause", () => {
    assert.instanceOf(thrownBy(() => toPayload(circular, "Payload")).cause, TypeError)
  })

  test("the size of a payload is its bytes as JSON, including quotes", () => {
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

describe("payloads that are too large", () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))

  test("a payload has at most 10,000 keys at all levels together, and elements of lists don't count", () => {
    assert.doesNotThrow(() => toPayload(keys(JSON_KEYS_MAX), "It"))
    assert.doesNotThrow(() => toPayload(Array(100_000).fill(1), "It"))
    for (const value of [keys(JSON_KEYS_MAX + 1), [keys(JSON_KEYS_MAX), { one: 1 }]])
      assert.match(thrownBy(() => toPayload(value, "It")).message, /^It has more than 10000 keys/)
  })

  const KEYS = "It has more than 10000 keys; store the data elsewhere and pass a reference."
  const BYTES = "It has more than 1048576 bytes as JSON; at most 1048576 are stored."

  test.each([
    ["100,000 keys", keys(100_000), "BELFRY_PAYLOAD_INVALID", KEYS],
    ["1,000,000 elements", Array(1_000_000).fill(1), "BELFRY_PAYLOAD_TOO_LARGE", BYTES],
    ["a list of 10,000,000 holes", Array(10_000_000), "BELFRY_PAYLOAD_TOO_LARGE", BYTES],
    ["a text of 10 MB", { text: "x".repeat(10_000_000) }, "BELFRY_PAYLOAD_TOO_LARGE", BYTES],
  ])("a payload with %s is refused before it is fully written as JSON", (_, value, code, message) => {
    const error = thrownBy(() => toPayload(value, "It"))

    assert.equal(error.code, code)
    assert.equal(error.message, message)
  })
})

describe("canonical JSON", () => {
  test("canonical JSON has sorted keys at every level and keeps the order of lists", () => {
    const text = canonicalJson({ b: [3, 1, { z: 1, a: 2 }], a: { d: null, c: true } })

    assert.equal(text, '{"a":{"c":true,"d":null},"b":[3,1,{"a":2,"z":1}]}')
  })

  test("canonical JSON parses to the same value, and equal values have the same canonical JSON", () => {
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

describe("the nesting of payloads", () => {
  const listsIn = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as unknown
  const objectsIn = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`) as unknown

  test.each([
    ["lists", listsIn(JSON_DEPTH_MAX + 1)],
    ["objects", objectsIn(JSON_DEPTH_MAX + 1)],
    ["lists in an object", { inside: listsIn(JSON_DEPTH_MAX) }],
    ["lists after a text", ["text", listsIn(JSON_DEPTH_MAX)]],
    ["lists after a text that ends with a backslash", ["\\", listsIn(JSON_DEPTH_MAX)]],
  ])("a payload of more than 64 levels is refused: %s", (_, value) => {
    const error = thrownBy(() => toPayload(value, "It"))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.equal(error.message, "It is nested deeper than 64 levels.")
  })

  test.each([
    ["64 levels of lists", listsIn(JSON_DEPTH_MAX)],
    ["64 levels of objects", objectsIn(JSON_DEPTH_MAX)],
    ["100 lists in one list", Array(100).fill([])],
    ["100 objects in one list", Array(100).fill({})],
    ["a text of brackets", "[".repeat(100)],
    ["a text of brackets after a quote", `"${"{".repeat(100)}`],
    ["a text of brackets after a text that ends with a backslash", ["\\", "[".repeat(100)]],
  ])("a payload of %s is accepted", (_, value) => {
    assert.deepEqual(toPayload(value, "It"), value as Json)
  })
})

test.each([
  ["a map in an object", { a: { m: new Map() } }, "m is of type Map"],
  ["a set", new Set(), "it is of type Set"],
  ["a promise in a list", [Promise.resolve()], "0 is of type Promise"],
])("a payload that JSON would write as an empty object is refused with its type: %s", (_, value, problem) => {
  const error = thrownBy(() => toPayload(value, "The payload"))

  assert.equal(error.message, `The payload can't be written as JSON: TypeError: ${problem}.`)
  assert.deepEqual(error.details, { option: "payload" })
})

describe("stored JSON", () => {
  const nested = (open: string, close: string, levels: number) =>
    `${open.repeat(levels)}1${close.repeat(levels)}`

  test.each([
    ["a number", "7", 7],
    ["an object", '{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
    ["a long text full of brackets", JSON.stringify("[{".repeat(100)), "[{".repeat(100)],
    ["a long list of lists", JSON.stringify(Array(100).fill([1])), Array(100).fill([1])],
  ])("stored JSON is read: %s", (_, text, value) => {
    assert.deepEqual(storedJson(text), value)
  })

  test.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
    ["both", '[{"a":', "}]"],
  ])(
    "stored JSON may have 72 levels, for a payload of 64 levels and the record around it: %s",
    (_, open, close) => {
      const each = open === '[{"a":' ? 36 : 72

      assert.doesNotThrow(() => storedJson(nested(open, close, each)))
      assert.throws(() => storedJson(nested(open, close, each + 1)), /^it is nested deeper than 72 levels$/)
    },
  )

  test("stored text that isn't JSON throws a SyntaxError", () => {
    assert.throws(() => storedJson("{"), SyntaxError)
  })
})

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [null, false],
  [[], false],
  ["{}", false],
  [7, false],
  [undefined, false],
])("%j is an object of JSON: %s", (value, isObject) => {
  assert.equal(isJsonObject(value), isObject)
})
