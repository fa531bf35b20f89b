import { assert, test } from "vitest"
import { DAY, EARLIEST, HOUR, LATEST, MINUTE, SECOND } from "./instant.ts"
import { isDayLeftOut, zoneNamed } from "./zone.ts"

test("a wall time is the instant plus the offset of its span", () => {
  const berlin = zoneNamed("Europe/Berlin")

  assert.equal(berlin.spanAt(at("2026-01-15T12:00:00Z")).offset, HOUR)
  assert.equal(berlin.spanAt(at("2026-07-15T12:00:00Z")).offset, 2 * HOUR)
})

test("a span contains the given instant and ends where the next span begins", () => {
  const zone = zoneNamed("America/New_York")

  let span = zone.spanAt(at("2025-06-01T00:00:00Z"))
  for (let step = 0; step < 10; step++) {
    const following = zone.spanAt(span.until)
    assert.equal(following.from, span.until)
    assert.equal(zone.spanAt(following.from), following)
    assert.equal(zone.spanAt(following.until - 1), following)
    span = following
  }
})

test("the spans of a year are computed once and reused", () => {
  const zone = zoneNamed("America/New_York")

  const winter = zone.spanAt(at("2026-01-15T12:00:00Z"))
  const summer = zone.spanAt(at("2026-07-15T12:00:00Z"))

  assert.equal(zone.spanAt(at("2026-01-15T12:00:00Z")), winter)
  assert.equal(zone.spanAt(at("2026-07-15T12:00:00Z")), summer)
})

test("at a gap, the last wall time seen is before the first wall time of the new span", () => {
  const span = zoneNamed("Europe/Berlin").spanAt(at("2026-03-29T01:00:00Z"))

  assert.equal(span.from, at("2026-03-29T01:00:00Z"))
  assert.equal(wall(span.seenUntil), "2026-03-29T02:00:00")
  assert.equal(wall(span.from + span.offset), "2026-03-29T03:00:00")
})

test("at an overlap, the last wall time seen is after the first wall time of the new span", () => {
  const span = zoneNamed("Europe/Berlin").spanAt(at("2026-10-25T01:00:00Z"))

  assert.equal(span.from, at("2026-10-25T01:00:00Z"))
  assert.equal(wall(span.seenUntil), "2026-10-25T03:00:00")
  assert.equal(wall(span.from + span.offset), "2026-10-25T02:00:00")
})

test("the span before an overlap has the wall time from which its wall times repeat", () => {
  const before = zoneNamed("Europe/Berlin").spanAt(at("2026-10-25T00:59:59Z"))

  assert.equal(wall(before.repeatsFrom), "2026-10-25T02:00:00")
  assert.equal(wall(before.until + before.offset), "2026-10-25T03:00:00")
})

test("the span before a gap has no wall times that repeat", () => {
  const before = zoneNamed("Europe/Berlin").spanAt(at("2026-03-29T00:59:59Z"))

  assert.isAtLeast(before.repeatsFrom, before.until + before.offset)
})

test.each([
  [
    "Australia/Lord_Howe moves its clocks back by half an hour",
    "Australia/Lord_Howe",
    "2026-04-04T15:00:00Z",
    -30,
  ],
  [
    "Australia/Lord_Howe moves its clocks forward by half an hour",
    "Australia/Lord_Howe",
    "2026-10-03T15:30:00Z",
    30,
  ],
  [
    "Pacific/Chatham, at an offset of 12 h 45 min, changes by one hour",
    "Pacific/Chatham",
    "2026-09-26T14:00:00Z",
    60,
  ],
  ["Antarctica/Troll changes by two hours", "Antarctica/Troll", "2026-03-29T01:00:00Z", 120],
  ["Asia/Pyongyang moved by half an hour once", "Asia/Pyongyang", "2018-05-04T15:00:00Z", 30],
  ["Asia/Kathmandu moved by 15 minutes once", "Asia/Kathmandu", "1985-12-31T18:30:00Z", 15],
  ["Pacific/Apia skipped 30 December 2011", "Pacific/Apia", "2011-12-30T10:00:00Z", 24 * 60],
  ["Pacific/Kwajalein skipped 21 August 1993", "Pacific/Kwajalein", "1993-08-21T12:00:00Z", 24 * 60],
  ["America/Sao_Paulo skipped midnight", "America/Sao_Paulo", "2018-11-04T03:00:00Z", 60],
  ["America/Sao_Paulo repeated the hour before midnight", "America/Sao_Paulo", "2018-02-18T02:00:00Z", -60],
  ["Asia/Beirut skips midnight", "Asia/Beirut", "2022-03-26T22:00:00Z", 60],
  [
    "Europe/Dublin, whose winter time is a negative summer time, moves its clocks forward in spring",
    "Europe/Dublin",
    "2026-03-29T01:00:00Z",
    60,
  ],
  ["Africa/Casablanca moves its clocks back for Ramadan", "Africa/Casablanca", "2026-02-15T02:00:00Z", -60],
])("%s", (_title, name, instant, minutes) => {
  const zone = zoneNamed(name)

  const span = zone.spanAt(at(instant))

  assert.equal(span.from, at(instant))
  assert.equal(span.offset - zone.spanAt(at(instant) - SECOND).offset, minutes * MINUTE)
})

test("the skipped day of Pacific/Apia is a gap of 24 hours", () => {
  const span = zoneNamed("Pacific/Apia").spanAt(at("2011-12-30T10:00:00Z"))

  assert.equal(wall(span.seenUntil), "2011-12-30T00:00:00")
  assert.equal(wall(span.from + span.offset), "2011-12-31T00:00:00")
})

test.each([
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T00:00:00", true],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T23:59:59", true],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-29T23:59:59", false],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00", false],
  ["Pacific/Fakaofo", "2011-12-30T11:00:00Z", "2011-12-30T12:00:00", true],
  ["Pacific/Kiritimati", "1994-12-31T10:00:00Z", "1994-12-31T12:00:00", true],
  ["Pacific/Enderbury", "1994-12-31T11:00:00Z", "1994-12-31T12:00:00", true],
  ["Pacific/Kwajalein", "1993-08-21T12:00:00Z", "1993-08-21T12:00:00", true],
  ["America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-04T00:30:00", false],
  ["Asia/Beirut", "2022-03-26T22:00:00Z", "2022-03-27T00:30:00", false],
  ["Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T02:30:00", false],
  ["Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T02:30:00", false],
])("for %s, which changed its clock at %s, isDayLeftOut of %s is %s", (name, change, wallTime, expected) => {
  const span = zoneNamed(name).spanAt(at(change))

  assert.equal(span.from, at(change))
  assert.equal(isDayLeftOut(span, at(`${wallTime}Z`)), expected)
})

test("a gap longer than a day leaves out only the days that it covers completely", () => {
  const gap = { from: 0, until: DAY, offset: 3 * DAY + HOUR, seenUntil: DAY - HOUR, repeatsFrom: Infinity }

  assert.deepEqual(
    [DAY - HOUR, DAY, 2 * DAY, 3 * DAY - SECOND, 3 * DAY].map((wallTime) => isDayLeftOut(gap, wallTime)),
    [false, true, true, true, false],
  )
})

test("offsets from before standard time keep their seconds", () => {
  assert.equal(
    zoneNamed("America/New_York").spanAt(at("1880-01-01T00:00:00Z")).offset,
    -(4 * HOUR + 56 * MINUTE + 2 * SECOND),
  )
})

test("changes a week apart are both found", () => {
  const noronha = zoneNamed("America/Noronha")

  const summer = noronha.spanAt(at("2000-10-10T00:00:00Z"))

  assert.equal(summer.from, at("2000-10-08T02:00:00Z"))
  assert.equal(summer.until, at("2000-10-15T01:00:00Z"))
})

test("the start of a year is neither a gap nor an overlap", () => {
  const span = zoneNamed("Asia/Kolkata").spanAt(at("2026-01-01T00:00:00Z"))

  assert.equal(span.from, at("2026-01-01T00:00:00Z"))
  assert.equal(span.seenUntil, span.from + span.offset)
  assert.equal(span.repeatsFrom, Number.POSITIVE_INFINITY)
})

test("a gap at the start of a year is found", () => {
  // Until then Lisbon's clocks were 36 min 45 s behind Greenwich.
  const span = zoneNamed("Europe/Lisbon").spanAt(at("1912-01-01T00:00:00Z"))

  assert.equal(wall(span.seenUntil), "1911-12-31T23:23:15")
  assert.equal(wall(span.from + span.offset), "1912-01-01T00:00:00")
})

test("an overlap across the start of a year is found from both years", () => {
  // At midnight local time, 23:33:04 UTC, the clocks of São Tomé went back by more than an hour.
  const zone = zoneNamed("Africa/Sao_Tome")
  const before = zone.spanAt(at("1883-12-31T23:33:03Z"))
  const newYear = zone.spanAt(at("1884-01-01T00:00:00Z"))

  assert.equal(wall(before.repeatsFrom), "1883-12-31T22:56:19")
  assert.equal(wall(newYear.from + newYear.offset), "1883-12-31T23:23:15")
  assert.equal(wall(newYear.seenUntil), "1884-01-01T00:00:00")
})

test("UTC has one span, which never ends", () => {
  for (const name of ["UTC", "utc", "Etc/UTC", "GMT"]) {
    const span = zoneNamed(name).spanAt(0)
    assert.deepEqual(
      [span.offset, span.from, span.until],
      [0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    )
  }
})

test("the current rules of a zone apply in the far future", () => {
  const berlin = zoneNamed("Europe/Berlin")

  assert.equal(berlin.spanAt(at("9000-07-01T00:00:00Z")).offset, 2 * HOUR)
  assert.equal(berlin.spanAt(LATEST).offset, HOUR)
})

test("the earliest and the latest instant have spans", () => {
  for (const name of ["Pacific/Kiritimati", "Pacific/Niue", "Europe/Berlin"]) {
    for (const instant of [EARLIEST, EARLIEST + DAY, LATEST - DAY, LATEST]) {
      const span = zoneNamed(name).spanAt(instant)
      assert.isTrue(span.from <= instant && instant < span.until, `${name} at ${instant}`)
    }
  }
})

test("the last span continues after the latest instant", () => {
  const berlin = zoneNamed("Europe/Berlin")

  assert.equal(berlin.spanAt(LATEST + 1), berlin.spanAt(LATEST))
})

function at(text: string): number {
  return Date.parse(text)
}

/** The text of a wall time, such as 2026-03-29T02:00:00. */
function wall(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19)
}
