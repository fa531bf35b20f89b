import assert from "node:assert/strict"
import { test } from "vitest"
import { mayHaveBegun } from "./delivery.ts"
import type { Attempt, AttemptOutcome } from "./run.ts"

const CASES: readonly (readonly [string, readonly AttemptOutcome[], boolean])[] = [
  ["no attempt was made", [], false],
  ["its worker was lost during the attempt", ["lost"], true],
  ["its first attempt is unconfirmed (first attempts begin without confirmation)", ["unconfirmed"], true],
  ["only a later attempt is unconfirmed (it didn't begin)", ["released", "unconfirmed"], false],
  ["a lost attempt precedes the unconfirmed one", ["lost", "unconfirmed"], true],
  ["an unconfirmed first attempt precedes the unconfirmed one", ["unconfirmed", "unconfirmed"], true],
  ["its attempt was released before it began", ["released"], false],
  ["a person retried it after a lost attempt", ["lost", "released"], false],
  ["its attempt is known to have failed", ["failed"], false],
  ["an attempt was lost after a failed one", ["failed", "lost"], true],
]

test.each(CASES)("when %s (outcomes %j), mayHaveBegun is %s", (_, outcomes, expected) => {
  const attempts = outcomes.map((outcome, index) => ({ attempt: index + 1, outcome }) as Attempt)

  assert.equal(mayHaveBegun({ attempts }), expected)
})
