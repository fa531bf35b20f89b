import { assert, test } from "vitest"
import { aRetry, aRunRef } from "../../../test/support/records.ts"
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
  ["true for giving up", lost, true],
  ["false for a release with the same reason", { ...release(run, "stopping"), reason: "lost" }, false],
  ["false for a failure with the same reason", { ...fail(run, failure, aRetry(), 0), reason: "lost" }, false],
  ["false for a cancel with the same reason", cancel(run, { reason: "lost", by: null })!, false],
])("isGivenUp tells whether a run cost too many workers: %s", (_, change, expected) => {
  assert.equal(isGivenUp(change), expected)
})
