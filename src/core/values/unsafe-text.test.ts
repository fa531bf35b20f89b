import { assert, test } from "vitest"
import { printableJson, UNSAFE } from "./unsafe-text.ts"

test.each([
  ["NUL", "\u0000"],
  ["escape", "\u001b"],
  ["the last C0 character", "\u001f"],
  ["DEL", "\u007f"],
  ["the last C1 character", "\u009f"],
  ["the Arabic letter mark", "\u061c"],
  ["a zero-width space", "\u200b"],
  ["a right-to-left mark", "\u200f"],
  ["a line separator", "\u2028"],
  ["a right-to-left override", "\u202e"],
  ["a left-to-right isolate", "\u2066"],
  ["the end of an isolate", "\u2069"],
  ["a byte order mark", "\ufeff"],
  ["a lone surrogate", "\ud83d"],
])(
  "%s, which can control a terminal, is printed as an escape with the same value in JSON",
  (_, character) => {
    const json = printableJson(`"a${character}b"`)

    assert.match(json, /^"a\\u[0-9a-f]{4}b"$/)
    assert.equal(JSON.parse(json), `a${character}b`)
    assert.equal(`a${character}b`.replace(UNSAFE, "?"), "a?b")
  },
)

test("all other characters and the line breaks of the JSON are printed unchanged", () => {
  const json = '{\n  "name": "Zoë 😀\u00a0 ~"\n}'

  assert.equal(printableJson(json), json)
})
