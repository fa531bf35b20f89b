import assert from "node:assert/strict"
import { test } from "vitest"
import { mayHaveBegun } from "./delivery.ts"
import type { Attempt, AttemptOutcome } from "./run.ts"

const CASES: readonly (readonly [string, readonly AttemptOutcome[], boolean])[] = [
  ["the first attempt has none before it", [], false],
  ["a worker was lost while it performed", ["lost"], true],
  ["a first attempt is performed without being confirmed", ["unconfirmed"], true],
  ["a later one that wasn't confirmed didn't begin", ["released", "unconfirmed"], false],
  ["what was lost before it may have begun all the same", ["lost", "unconfirmed"], true],
  ["of the first, too", ["unconfirmed", "unconfirmed"], true],
  ["what was given back unbegun may begin", ["released"], false],
  ["once a person has tried it again it may begin, too", ["lost", "released"], false],
  ["a failure is known", ["failed"], false],
  ["a loss after that isn't", ["failed", "lost"], true],
]

test.each(CASES)("whether a run may have begun: %s", (_, outcomes, expected) => {
  const attempts = outcomes.map((outcome, index) => ({ attempt: index + 1, outcome }) as Attempt)

  assert.equal(mayHaveBegun({ attempts }), expected)
})
