import { assert as check, test } from "vitest"
import { assert, BelfryError } from "./errors.ts"

test("an error has a code, and the status and the remedy of that code", () => {
  const error = new BelfryError("BELFRY_RUN_NOT_FOUND", "There is no run r1.", { details: { runId: "r1" } })

  check.equal(String(error), "BelfryError: There is no run r1.")
  check.equal(error.code, "BELFRY_RUN_NOT_FOUND")
  check.equal(error.status, 404)
  check.equal(error.remedy, "List the runs; history is pruned by age and count.")
  check.deepEqual(error.details, { runId: "r1" })
})

test("the details of an error default to an empty object, and `cause` exists only if one is given", () => {
  const cause = new Error("connection refused")

  check.deepEqual(new BelfryError("BELFRY_STORE_UNAVAILABLE", "away").details, {})
  check.isFalse("cause" in new BelfryError("BELFRY_STORE_UNAVAILABLE", "away"))
  check.equal(new BelfryError("BELFRY_STORE_UNAVAILABLE", "away", { cause }).cause, cause)
})

test("a remedy given to the error replaces that of the code and ends the message", () => {
  const error = new BelfryError("BELFRY_RUN_NOT_FOUND", "There is no run r1.", { remedy: "Look for r2." })

  check.equal(error.message, "There is no run r1. Look for r2.")
  check.equal(error.remedy, "Look for r2.")
})

test.each(["BELFRY_STORE_UNFIT", "BELFRY_BACKFILL_INVALID"] as const)(
  "the remedy of %s for a mistake in an option is to correct the option",
  (code) => {
    const error = new BelfryError(code, "redis: prefix is 5.", { details: { option: "prefix" } })

    check.equal(error.remedy, "Correct the option named in the message.")
    check.notEqual(new BelfryError(code, "No.").remedy, error.remedy)
  },
)

test("a broken invariant throws an error that names Belfry and the invariant", () => {
  check.doesNotThrow(() => assert(true, "attempt never falls"))
  check.throws(() => assert(false, "attempt never falls"), /^Belfry invariant broken: attempt never falls$/)
})
