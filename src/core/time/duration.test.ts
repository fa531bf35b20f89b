import { assert, test } from "vitest"
import { BelfryError } from "../errors.ts"
import { DURATION_MAX, exactDuration, formatDuration, parseDuration, WRITE_A_DURATION } from "./duration.ts"
import { DAY, HOUR, MINUTE, SECOND } from "./instant.ts"

test.each([
  ["0s", 0],
  ["1ms", 1],
  ["90s", 90 * SECOND],
  ["15m", 15 * MINUTE],
  ["1h30m", 90 * MINUTE],
  ["1h30m15s", 90 * MINUTE + 15 * SECOND],
  ["2d", 2 * DAY],
  ["1w", 7 * DAY],
  ["1.5h", 90 * MINUTE],
  ["1.25h", 75 * MINUTE],
  ["1s".repeat(32), 32 * SECOND],
  ["0.1s", 100],
  ["PT15M", 15 * MINUTE],
  ["PT0S", 0],
  ["PT1.5S", 1_500],
  ["P1D", DAY],
  ["P2W", 14 * DAY],
  ["P12W", 84 * DAY],
  ["P10DT12H30M15.25S", 10 * DAY + 12 * HOUR + 30 * MINUTE + 15_250],
  ["P1DT2H3M4S", DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND],
  [0, 0],
  [1_500, 1_500],
  [1.6, 2],
  [DURATION_MAX, DURATION_MAX],
])("the duration %j is %d ms", (text, ms) => {
  assert.equal(parseDuration(text), ms)
})

test("the duration -0 is stored as 0", () => {
  assert.isTrue(Object.is(parseDuration(-0), 0))
})

test("an error names the option and the value in its message and its details", () => {
  const ofLease = thrownBy(() => parseDuration("soon", "lease"))
  const ofNoOption = thrownBy(() => parseDuration("soon"))

  assert.equal(ofLease.message, `The lease "soon" is not a duration. ${WRITE_A_DURATION}.`)
  assert.deepEqual(ofLease.details, { option: "lease", value: "soon" })
  assert.equal(ofNoOption.message, `The duration "soon" is not a duration. ${WRITE_A_DURATION}.`)
})

const REFUSED: readonly unknown[] = [
  "",
  " ",
  "5",
  "m",
  "5 m",
  "1h 30m",
  "1h30",
  "-5m",
  "+5m",
  "5M",
  "5min",
  ".5s",
  "5.s",
  "1e3s",
  "0x10s",
  "٥m",
  "5m\u0000",
  "5m\n",
  "Infinitys",
  "P",
  "PT",
  "P1Y",
  "P1M",
  "pt5m",
  "PT5M ",
  "P-1D",
  "1hP1D",
  `PT${"0".repeat(62)}1S`,
  "1001y",
  "9".repeat(40).concat("d"),
  "1s".repeat(40),
  "1".repeat(10_000_000),
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  DURATION_MAX + 1,
  null,
  undefined,
  true,
  [],
  {},
  10n,
]

for (const value of REFUSED) {
  test(`${String(value).slice(0, 20)} (${typeof value}) is not a duration`, () => {
    const error = thrownBy(() => parseDuration(value as string, "lease"))

    assert.equal(error.code, "BELFRY_DURATION_INVALID")
    assert.match(error.message, /^The lease .* is not a duration\. Write "90s"/)
    assert.isBelow(error.message.length, 200)
  })
}

test.each([
  [0, "0ms"],
  [999, "999ms"],
  [SECOND, "1s"],
  [59_999, "59s"],
  [90 * SECOND, "1m 30s"],
  [HOUR, "1h"],
  [HOUR + 5 * SECOND, "1h"],
  [90 * MINUTE, "1h 30m"],
  [DAY + HOUR + MINUTE, "1d 1h"],
  [30 * DAY, "30d"],
])("%d ms is shown with its two largest units: %s", (ms, text) => {
  assert.equal(formatDuration(ms), text)
})

test.each([
  [0, "0ms"],
  [1, "1ms"],
  [1_500, "1s500ms"],
  [90 * MINUTE, "1h30m"],
  [HOUR + 5 * SECOND, "1h5s"],
  [30 * DAY + HOUR + MINUTE + SECOND + 1, "30d1h1m1s1ms"],
  [DURATION_MAX, "366000d"],
])("%d ms is written exactly as %s, and parsing that gives the same number", (ms, text) => {
  assert.equal(exactDuration(ms), text)
  assert.equal(parseDuration(text), ms)
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
