import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { BelfryError } from "../core/errors.ts"
import { faultOf as postgresFault } from "../stores/postgres/faults.ts"
import { faultOf as redisFault } from "../stores/redis/faults.ts"
import { addressOf } from "../stores/redis/place.ts"
import { problemOf } from "./cli-error.ts"

describe("a store that can't be opened exits 7, with a remedy for the exact cause", () => {
  const postgres = (code: string) =>
    postgresFault(Object.assign(new Error("no"), { code }), "PostgreSQL at db")
  const redis = (message: string) =>
    redisFault(Object.assign(new Error(message), { name: "ReplyError" }), "Redis at cache", null)
  const thrownBy = (perform: () => unknown) => {
    try {
      return perform()
    } catch (error) {
      return error
    }
  }

  test.each([
    ["a wrong password of PostgreSQL", postgres("28P01"), /Check the user and the password/],
    ["a missing database in PostgreSQL", postgres("3D000"), /Create it first \(createdb NAME\)/],
    ["missing privileges in PostgreSQL", postgres("42501"), /Grant it what PostgreSQL names/],
    [
      "a wrong password of Redis",
      redis("WRONGPASS invalid username-password pair"),
      /Check the user and the/,
    ],
    [
      "a missing database in Redis",
      redis("ERR DB index is out of range"),
      /Name a database that the server has/,
    ],
    [
      "a Redis user without INFO",
      redis("NOPERM User belfry has no permissions to run the 'info' command"),
      /^Let this user run it: ACL SETUSER <user> \+info$/,
    ],
    [
      "a Redis user without the keys",
      redis("NOPERM No permissions to access a key"),
      /^Let this user use Belfry's keys: ACL SETUSER <user> ~\{belfry\}\*/,
    ],
    [
      "a Redis database that is not a number",
      thrownBy(() => addressOf("redis://cache/shop")),
      /^Write it like this/,
    ],
    ["a newer schema", new BelfryError("BELFRY_STORE_SCHEMA_NEWER", "It is at 9."), /^Upgrade belfry/],
  ])("%s", (_, error, remedy) => {
    const problem = problemOf(error)

    assert.equal(problem.exit, 7)
    assert.match(problem.remedy ?? "", remedy)
    assert.ok(!problem.message.includes(problem.remedy!), "the remedy is printed once")
  })

  test("a value that the store refuses exits 6, as an invalid value", () => {
    assert.equal(problemOf(new BelfryError("BELFRY_STORE_REFUSED", "Too long.")).exit, 6)
  })
})

test("the remedy of an error is the end of its message", () => {
  const error = new BelfryError("BELFRY_STORE_UNFIT", "It is away.", { remedy: "Bring it back." })

  assert.deepEqual([error.message, error.remedy], ["It is away. Bring it back.", "Bring it back."])
})

test("a command in a remedy contains the id of the schedule", () => {
  const error = new BelfryError("BELFRY_OCCURRENCE_INVALID", "No.", { details: { id: "nightly" } })

  assert.match(problemOf(error).remedy ?? "", /belfry schedule next nightly$/)
})
