import { assert, test } from "vitest"
import { plain, shown, shownJson, textFrom } from "./shown.ts"

const LONG = "x".repeat(81)

test.each([
  ["text", '"text"'],
  ['with "quotes"\n', '"with \\"quotes\\"\\n"'],
  ["x".repeat(80), `"${"x".repeat(80)}"`],
  [LONG, `"${"x".repeat(80)}…"`],
  [12n, "12n"],
  [10n ** 100n, `1${"0".repeat(79)}n`],
  [Symbol("secret"), "a symbol"],
  [() => "secret", "a function"],
  [null, "null"],
  [undefined, "undefined"],
  [-1.5, "-1.5"],
  [true, "true"],
  [[1, 2], "a list of 2"],
  [{ password: "secret" }, "an object"],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [new Date(Number.NaN), "an invalid Date"],
])("a message shows %o as %s", (value, words) => {
  assert.equal(shown(value), words)
})

test.each([
  ["text", "text"],
  ["x".repeat(80), "x".repeat(80)],
  [LONG, `"${"x".repeat(80)}…"`],
  [5, 5],
  [false, false],
  [null, "null"],
  [{ password: "secret" }, "an object"],
])("the details of an error contain %o as %o", (value, kept) => {
  assert.equal(plain(value), kept)
})

test("an object whose properties can't be read is shown as unreadable", () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()

  assert.equal(shown(proxy), "an unreadable object")
  assert.equal(plain(proxy), "an unreadable object")
})

test.each([
  ["text", "text"],
  [Symbol("a"), "Symbol(a)"],
  [Object.create(null), "an object"],
])("textFrom converts %o to %s and never throws", (value, text) => {
  assert.equal(textFrom(value), text)
})

test("a value from a database is shown as JSON", () => {
  assert.deepEqual([{ a: 1 }, "x", Number.NaN, undefined, "y".repeat(200)].map(shownJson), [
    '{"a":1}',
    '"x"',
    "NaN",
    "missing",
    `"${"y".repeat(79)}`,
  ])
})

test("a value nested too deep for JSON.stringify is shown in words", () => {
  const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)

  // Some JavaScript engines can write it.
  assert.match(shownJson(deep), /^(a list of 1|\[{80})$/)
})
