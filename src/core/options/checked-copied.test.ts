import { assert, describe, test } from "vitest"
import { thrownBy } from "../../../test/support/records.ts"
import { BelfryError } from "../errors.ts"
import { atOption, checked, copied, type OptionPath, type OptionSource } from "./checked.ts"
import { instant, integer, record } from "./option-types.ts"

const SOURCE: OptionSource = { code: "BELFRY_RUN_INVALID", subject: "enqueue", details: { id: "x" } }
const PLACE: OptionPath = { source: SOURCE, option: "headers" }

const throwing = {
  get limit() {
    throw new Error("no")
  },
}

describe("copied", () => {
  test("an object is copied, and each getter is read once", () => {
    let reads = 0
    const given = {
      get accept() {
        return ++reads
      },
    }

    const copy = copied(given, PLACE)

    assert.deepEqual([copy.accept, copy.accept, reads], [1, 1, 1])
  })

  test.each([null, undefined])("%s is copied as an empty object", (given) => {
    assert.deepEqual(copied(given, PLACE), {})
  })

  test.each([
    [[1], "a list of 1"],
    ["all", '"all"'],
    [5, "5"],
    [() => 0, "a function"],
  ])("%o is refused, because it isn't an object", (given, words) => {
    const error = thrownBy(() => copied(given as object, PLACE))

    assert.equal(error.message, `enqueue: headers is ${words}; use an object.`)
  })

  test("an object that can't be read is refused", () => {
    const error = thrownBy(() => copied(throwing, PLACE))

    assert.equal(error.message, "enqueue: headers can't be read.")
    assert.deepEqual(error.details, { id: "x", option: "headers", value: "an object" })
    assert.equal((error.cause as Error).message, "no")
  })
})

test("an unreadable object of options is refused with the option's name", () => {
  const error = thrownBy(() =>
    checked({ nested: throwing }, { nested: record({ limit: integer(1, 2) }) }, SOURCE),
  )

  assert.equal(error.message, "enqueue: nested can't be read.")
})

describe("atOption", () => {
  test("an error of Belfry gets the option's name and keeps its code and details", () => {
    const cause = new BelfryError("BELFRY_CRON_SYNTAX", "Hour 25.", { details: { field: 2 } })

    const error = thrownBy(() =>
      atOption(PLACE, () => {
        throw cause
      }),
    )

    assert.deepInclude(error, { code: "BELFRY_CRON_SYNTAX", message: "enqueue: headers: Hour 25.", cause })
    assert.deepEqual(error.details, { id: "x", field: 2, option: "headers" })
  })

  test("an error that isn't Belfry's is a fault and is rethrown unchanged", () => {
    const fault = new Error("away")

    try {
      atOption(PLACE, () => {
        throw fault
      })
    } catch (error) {
      assert.equal(error, fault)
      return
    }
    assert.fail("nothing was thrown")
  })
})

test.each([
  [60, "Did you mean"],
  [61, "Known options:"],
])("a name of %d characters is compared with the known names only up to 60 characters", (length, help) => {
  const name = "x".repeat(length)

  const error = thrownBy(() => checked({ [`${name.slice(1)}y`]: 1 }, { [name]: instant }, SOURCE))

  assert.include(error.message, `is not an option. ${help} ${name}`)
})
