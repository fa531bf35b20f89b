import { assert, test } from "vitest"
import { describeIssues } from "./standard-schema.ts"

const issues = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ message: `problem ${index}` }))

test.each([
  ["without a path", [{ message: "expected an object" }], ": expected an object"],
  ["with an empty path", [{ message: "expected an object", path: [] }], ": expected an object"],
  [
    "with a path of keys",
    [{ message: "expected text", path: ["to", 0, "name"] }],
    " at to.0.name: expected text",
  ],
  [
    "with a path of objects, as some libraries write it",
    [{ message: "expected text", path: [{ key: "to" }, { key: 0 }] }],
    " at to.0: expected text",
  ],
  ["with a path of a symbol", [{ message: "no", path: [Symbol("hidden")] }], " at Symbol(hidden): no"],
  [
    "at several paths",
    [
      { message: "expected text", path: ["to"] },
      { message: "too small", path: ["limit"] },
    ],
    " at to: expected text; limit: too small",
  ],
  ["of which there are five", issues(5), ": problem 0; problem 1; problem 2; problem 3; problem 4"],
  [
    "of which there are seven",
    issues(7),
    ": problem 0; problem 1; problem 2; problem 3; problem 4; and 2 more",
  ],
])("issues %s are described with their paths", (_, given, text) => {
  assert.equal(describeIssues(given), text)
})
