import { assert, test } from "vitest"
import { BelfryError } from "../errors.ts"
import { EARLIEST, formatInstant, instantOf, LATEST, PASS_AN_INSTANT, parseInstant } from "./instant.ts"

test.each([
  ["2026-03-27T07:00:00Z", "2026-03-27T07:00:00Z"],
  ["2026-03-27T07:00Z", "2026-03-27T07:00:00Z"],
  ["2026-03-27 07:00:00Z", "2026-03-27T07:00:00Z"],
  ["2026-03-27t07:00:00z", "2026-03-27T07:00:00Z"],
  ["2026-03-27T07:00:00+01:00", "2026-03-27T06:00:00Z"],
  ["2026-03-27T07:00:00-0530", "2026-03-27T12:30:00Z"],
  ["2026-03-27T07:00:00.25Z", "2026-03-27T07:00:00.250Z"],
  ["2026-03-27T07:00:00.123456789Z", "2026-03-27T07:00:00.123Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
  ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("the text %s is parsed as %s", (text, expected) => {
  assert.equal(formatInstant(parseInstant(text)), expected)
})

test("a Date or a number of milliseconds is accepted and rounded down to whole milliseconds", () => {
  assert.equal(parseInstant(new Date(1_234)), 1_234)
  assert.equal(parseInstant(1_234.9), 1_234)
  assert.equal(parseInstant(-0.5), -1)
  assert.isTrue(Object.is(parseInstant(-0), 0))
})

test("an error names the option and the value in its message and its details", () => {
  const ofStart = thrownBy(() => parseInstant("soon", "start"))
  const ofNoOption = thrownBy(() => parseInstant("soon"))

  assert.equal(ofStart.message, `The start "soon" is not an instant. ${PASS_AN_INSTANT}.`)
  assert.deepEqual(ofStart.details, { option: "start", value: "soon" })
  assert.equal(ofNoOption.message, `The instant "soon" is not an instant. ${PASS_AN_INSTANT}.`)
})

test("an instant lies in the years 1 to 9999", () => {
  assert.equal(formatInstant(EARLIEST), "0001-01-01T00:00:00Z")
  assert.equal(formatInstant(LATEST), "9999-12-31T23:59:59.999Z")
  assert.equal(thrownBy(() => parseInstant(EARLIEST - 1)).code, "BELFRY_INSTANT_INVALID")
  assert.equal(thrownBy(() => parseInstant(LATEST + 1)).code, "BELFRY_INSTANT_INVALID")
})

const REFUSED: readonly unknown[] = [
  "",
  "now",
  "2026-03-27",
  "2026-03-27T07:00:00",
  "2026-03-27T07Z",
  "2026-02-29T00:00:00Z",
  "2026-02-30T00:00:00Z",
  "2026-04-31T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-00-01T00:00:00Z",
  "2026-01-00T00:00:00Z",
  "2026-01-01T25:00:00Z",
  "2026-01-01T00:60:00Z",
  "2026-01-01T00:00:60Z",
  "2026-01-01T00:00:00+25:00",
  "0000-01-01T00:00:00Z",
  "+002026-01-01T00:00:00Z",
  "Fri, 27 Mar 2026 07:00:00 GMT",
  "2026-03-27T07:00:00Z ",
  "2026-03-27T07:00:00Z\n",
  "2026-03-27T07:00:00Z (in the morning)",
  "1774594800000",
  "2".repeat(10_000_000),
  new Date(Number.NaN),
  new Date(LATEST + 1),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  null,
  undefined,
  true,
  [],
  {},
  10n,
]

test("a proxy that can't be read is not an instant", () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()

  assert.isNull(instantOf(proxy))
})

for (const value of REFUSED) {
  test(`${String(value).slice(0, 32)} (${typeof value}) is not an instant`, () => {
    const error = thrownBy(() => parseInstant(value as string, "start"))

    assert.equal(error.code, "BELFRY_INSTANT_INVALID")
    assert.match(error.message, /^The start .* is not an instant\. Pass a Date/)
    assert.isBelow(error.message.length, 220)
  })
}

test("milliseconds are shown only if they aren't 0", () => {
  assert.equal(formatInstant(Date.UTC(2026, 2, 27, 7)), "2026-03-27T07:00:00Z")
  assert.equal(formatInstant(Date.UTC(2026, 2, 27, 7) + 5), "2026-03-27T07:00:00.005Z")
})

function thrownBy(action: () => unknown): BelfryError {
  try {
    action()
  } catch (error) {
    if (error instanceof BelfryError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}
