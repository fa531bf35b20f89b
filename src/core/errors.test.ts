import { assert as check, test } from "vitest"
import { assert, BelfryError } from "./errors.ts"

test("an error has a code, and with it the status and the remedy of the table", () => {
  const error = new BelfryError("BELFRY_RUN_NOT_FOUND", "There is no run r1.", { details: { runId: "r1" } })

  check.equal(String(error), "BelfryError: There is no run r1.")
  check.equal(error.code, "BELFRY_RUN_NOT_FOUND")
  check.equal(error.status, 404)
  check.equal(error.remedy, "List the runs; history is pruned by age and count.")
  check.deepEqual(error.details, { runId: "r1" })
})

test("an error without details has none, and has a cause only if there is one", () => {
  const cause = new Error("connection refused")

  check.deepEqual(new BelfryError("BELFRY_STORE_UNAVAILABLE", "away").details, {})
  check.isFalse("cause" in new BelfryError("BELFRY_STORE_UNAVAILABLE", "away"))
  check.equal(new BelfryError("BELFRY_STORE_UNAVAILABLE", "away", { cause }).cause, cause)
})

test("an error with a remedy of its own ends its message with it", () => {
  const error = new BelfryError("BELFRY_RUN_NOT_FOUND", "There is no run r1.", { remedy: "Look for r2." })

  check.equal(error.message, "There is no run r1. Look for r2.")
  check.equal(error.remedy, "Look for r2.")
})

test("a broken invariant throws, and says that the bug is Belfry's", () => {
  check.doesNotThrow(() => assert(true, "attempt never falls"))
  check.throws(() => assert(false, "attempt never falls"), /^Belfry invariant broken: attempt never falls$/)
})
