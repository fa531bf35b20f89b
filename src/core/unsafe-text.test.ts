import { assert, test } from "vitest"
import { printableJson, UNSAFE } from "./unsafe-text.ts"

test.each([
  ["NUL", "\u0000"],
  ["escape", "\u001b"],
  ["the last of C0", "\u001f"],
  ["DEL", "\u007f"],
  ["the last of C1", "\u009f"],
  ["the Arabic letter mark", "\u061c"],
  ["a space without width", "\u200b"],
  ["a right-to-left mark", "\u200f"],
  ["a line separator", "\u2028"],
  ["a right-to-left override", "\u202e"],
  ["a left-to-right isolate", "\u2066"],
  ["the end of an isolate", "\u2069"],
  ["a byte order mark", "\ufeff"],
  ["half of a character", "\ud83d"],
])("%s acts on a terminal; as an escape in JSON it means the same", (_, character) => {
  const json = printableJson(`"a${character}b"`)

  assert.match(json, /^"a\\u[0-9a-f]{4}b"$/)
  assert.equal(JSON.parse(json), `a${character}b`)
  assert.equal(`a${character}b`.replace(UNSAFE, "?"), "a?b")
})

test("all else is printed as it is, and so are the lines of the JSON", () => {
  const json = '{\n  "name": "Zoë 😀\u00a0 ~"\n}'

  assert.equal(printableJson(json), json)
})
