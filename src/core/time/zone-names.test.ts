import { assert, test } from "vitest"
import { thrownBy } from "../../../test/support/records.ts"
import { isShortZoneName, zoneNamed } from "./zone.ts"

test("zones are cached by the spelling of their name, and the cache is limited", () => {
  const spelt = (index: number) =>
    `America/${[..."indianapolis"].map((letter, at) => ((index >> at) & 1 ? letter.toUpperCase() : letter)).join("")}`
  const first = zoneNamed(spelt(0))
  const second = zoneNamed(spelt(1))

  assert.equal(zoneNamed(spelt(0)), first)
  assert.notEqual(second, first)
  for (let index = 2; index <= 2_002; index++) zoneNamed(spelt(index))
  assert.notEqual(zoneNamed(spelt(0)), first)
})

test("the name of a zone is accepted in any case", () => {
  assert.equal(zoneNamed("europe/BERLIN").spanAt(0).offset, zoneNamed("Europe/Berlin").spanAt(0).offset)
})

test.each([
  "Europe/Kyiv",
  "Europe/Kiev",
  "America/Argentina/Buenos_Aires",
  "America/Port-au-Prince",
  "Etc/GMT+12",
  "EST5EDT",
  "CET",
  "GB",
  "Zulu",
  "Japan",
])("%s is an IANA name", (name) => {
  assert.equal(zoneNamed(name).name, name)
})

const NOT_ZONES = [
  "PST",
  "BST",
  "CST",
  "IST",
  "ACT",
  "+01:00",
  "-0500",
  "UTC+1",
  "GMT+1",
  "",
  " ",
  "Europe/Berlin ",
  "Europe/",
  "/Berlin",
  "Europe/Atlantis",
  "Mars/UTC",
  "Europe\u0000/Berlin",
  "SystemV/PST8",
  "systemv/pst8",
  "Etc/Unknown",
  "localtime",
  "../../etc/passwd",
  "constructor",
  "E\u017fT",
]

for (const name of NOT_ZONES) {
  test(`${JSON.stringify(name.slice(0, 20))} is refused as a zone, and the error gives an example of a name`, () => {
    const error = thrownBy(() => zoneNamed(name))

    assert.equal(error.code, "BELFRY_TIMEZONE_UNKNOWN")
    assert.equal(
      error.message,
      `Time zone ${JSON.stringify(name)} is unknown. Use an IANA name such as "Europe/Berlin" or "UTC".`,
    )
    assert.deepEqual(error.details, { timezone: name })
    assert.instanceOf(error.cause, RangeError)
  })
}

test("a name that ICU knows but the tz database doesn't is refused as not an IANA name", () => {
  assert.equal((thrownBy(() => zoneNamed("PST")).cause as Error).message, "not an IANA name")
})

test("an unknown name of 10,000,000 characters is refused, and the error doesn't repeat it in full", () => {
  for (const text of ["a", "a/", "/"]) {
    const name = Buffer.alloc(10_000_000, text).toString()

    const { message, details } = thrownBy(() => zoneNamed(name))
    assert.isBelow(message.length, 200)
    assert.isBelow(String(details["timezone"]).length, 200)
  }
})

test("a zone that isn't text is refused", () => {
  for (const name of [null, undefined, 7, {}] as unknown as string[]) {
    assert.equal(thrownBy(() => zoneNamed(name)).code, "BELFRY_TIMEZONE_UNKNOWN")
  }
})

test("a name without a slash is a short zone name only if tzdata has it", () => {
  assert.isTrue(isShortZoneName("est5edt"))
  assert.isFalse(isShortZoneName("PST"))
})
