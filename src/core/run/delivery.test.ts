import assert from "node:assert/strict"
import { test } from "vitest"
import { type Delivery, mayHaveBegun, mustBeConfirmed } from "./delivery.ts"
import type { Attempt, AttemptOutcome } from "./run.ts"

const CASES: readonly (readonly [string, readonly AttemptOutcome[], boolean])[] = [
  ["no attempt was made", [], false],
  ["its worker was lost during the attempt", ["lost"], true],
  ["its first attempt is unconfirmed (it didn't begin)", ["unconfirmed"], false],
  ["a later attempt is unconfirmed", ["released", "unconfirmed"], false],
  ["a lost attempt precedes the unconfirmed one", ["lost", "unconfirmed"], true],
  ["an attempt was lost after an unconfirmed one", ["unconfirmed", "lost"], true],
  ["its attempt was released before it began", ["released"], false],
  ["a worker that stops released it after a lost attempt", ["lost", "released"], true],
  [
    "workers released it and didn't confirm it after a lost attempt",
    ["lost", "released", "unconfirmed"],
    true,
  ],
  ["a person retried it after it was given up", ["lost", "given-up"], false],
  ["a worker that stops released it after a person's retry", ["lost", "given-up", "released"], false],
  ["an attempt was lost after a person's retry", ["lost", "given-up", "lost"], true],
  ["its attempt is known to have failed", ["failed"], false],
  ["an attempt was lost after a failed one", ["failed", "lost"], true],
  ["an operator took the run away from its worker", ["taken-away"], true],
  ["a worker that stops released it after an operator took it away", ["taken-away", "released"], true],
]

test.each(CASES)("when %s (outcomes %j), mayHaveBegun is %s", (_, outcomes, expected) => {
  const attempts = outcomes.map((outcome, index) => ({ attempt: index + 1, outcome }) as Attempt)

  assert.equal(mayHaveBegun({ attempts }), expected)
})

test.each<[Delivery, readonly boolean[]]>([
  ["at-least-once", [false, true, true]],
  ["at-most-once", [true, true, true]],
])("for %s delivery, mustBeConfirmed of attempts 1, 2 and 3 is %j", (delivery, expected) => {
  const answers = [1, 2, 3].map((attempt) => mustBeConfirmed({ attempt }, delivery))

  assert.deepEqual(answers, expected)
})
