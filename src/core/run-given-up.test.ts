import { assert, test } from "vitest"
import { aRetry, aRunRef } from "../../test/support/records.ts"
import { cancel, type Failure, fail, giveUp, isGivenUp, poisonWords, release } from "./run.ts"

const run = { ...aRunRef({ lost: 3 }), attempts: [] }
const failure: Failure = {
  outcome: "failed",
  error: "lost",
  retry: "never",
  output: { message: null, details: null },
}
const lost = giveUp(run, poisonWords(run))

test.each([
  ["giving up", lost, true],
  ["a release for the same reason", release(run, "lost"), false],
  ["a failure for the same reason", { ...fail(run, failure, aRetry(), 0), reason: "lost" }, false],
  ["a release that ends it for another reason", { ...lost, reason: "unreadable" }, false],
  ["cancelling for the same reason", cancel(run, { reason: "lost", by: null })!, false],
])("that a run cost too many workers is said by %s: %s", (_, change, expected) => {
  assert.equal(isGivenUp(change), expected)
})
