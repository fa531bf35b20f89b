import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { parseTime } from "../../src/cli/parsing/times.ts"
import { cutTo, printable, printableJson, printableLines, widthOf } from "../../src/cli/printing/printable.ts"
import { formatTable, formatTsv, paintFor } from "../../src/cli/printing/table.ts"
import { bothWords, distanceWords, spanWords, zonedWords } from "../../src/cli/printing/time-text.ts"

const NOW = Date.parse("2026-03-27T12:00:00Z")
const at = (text: string, zone = "Europe/Berlin") =>
  new Date(parseTime(text, "time", { now: NOW, zone }).instant).toISOString()

describe("parseTime", () => {
  test.each([
    ["2026-03-29T02:30:00Z", "2026-03-29T02:30:00.000Z"],
    ["2026-03-29T02:30:00+02:00", "2026-03-29T00:30:00.000Z"],
    ["2026-03-28 02:30", "2026-03-28T01:30:00.000Z"],
    ["2026-03-30", "2026-03-29T22:00:00.000Z"],
    ["now", "2026-03-27T12:00:00.000Z"],
    ["+2h", "2026-03-27T14:00:00.000Z"],
    ["-1d", "2026-03-26T12:00:00.000Z"],
    ["tomorrow 9am", "2026-03-28T08:00:00.000Z"],
    ["today 14:30", "2026-03-27T13:30:00.000Z"],
    ["yesterday", "2026-03-25T23:00:00.000Z"],
    ["tomorrow 12am", "2026-03-27T23:00:00.000Z"],
  ])("%s in Berlin is %s", (text, expected) => {
    assert.equal(at(text), expected)
  })

  test("a time that the clock skips is the first time after the gap, with a note", () => {
    const { instant, note } = parseTime("2026-03-29 02:30", "--from", { now: NOW, zone: "Europe/Berlin" })

    assert.equal(new Date(instant).toISOString(), "2026-03-29T01:00:00.000Z")
    assert.match(note!, /--from: 2026-03-29 02:30 in Europe\/Berlin; the clock skips that time/)
  })

  test("a time that occurs twice is the first", () => {
    assert.equal(at("2026-10-25 02:30"), "2026-10-25T00:30:00.000Z")
  })

  test.each([
    "2026-02-30 10:00",
    "2026-13-01",
    "2026-03-29 25:00",
    "tomorrow 25:00",
    "tomorrow 13pm",
    "soon",
    "+1x",
    "",
  ])("%s is not a time", (text) => {
    assert.throws(() => at(text), { name: "BelfryError" })
  })
})

describe("printed times", () => {
  test("a zoned time has its offset, and its year only if it isn't the current one", () => {
    assert.equal(
      zonedWords(Date.parse("2026-03-29T01:00:00Z"), "Europe/Berlin", NOW),
      "Sun 29 Mar 03:00 (+02:00)",
    )
    assert.equal(
      zonedWords(Date.parse("2027-01-01T00:00:05Z"), "UTC", NOW),
      "Fri 1 Jan 2027 00:00:05 (+00:00)",
    )
  })

  test("both zones are printed if their offsets differ, and the date twice only if it differs", () => {
    const when = Date.parse("2026-03-28T01:30:00Z")

    assert.equal(
      bothWords(when, { own: "Europe/Berlin", viewer: "America/New_York" }, NOW),
      "Sat 28 Mar 02:30 (+01:00) · Fri 27 Mar 21:30 here",
    )
    assert.equal(
      bothWords(when, { own: "Europe/Berlin", viewer: "UTC" }, NOW),
      "Sat 28 Mar 02:30 (+01:00) · 01:30 here",
    )
    assert.equal(
      bothWords(when, { own: "Europe/Berlin", viewer: "Europe/Paris" }, NOW),
      "Sat 28 Mar 02:30 (+01:00)",
    )
  })

  test("distances have two units at most", () => {
    assert.equal(distanceWords(NOW + 3_725_000, NOW), "in 1 h 2 min")
    assert.equal(distanceWords(NOW - 90_061_000, NOW), "1 d 1 h ago")
    assert.equal(distanceWords(NOW + 59_800, NOW), "in 1 min")
    assert.equal(spanWords(250), "250 ms")
    assert.equal(spanWords(1_250), "1.2 s")
  })
})

describe("stored text", () => {
  test("is printed with its control characters escaped", () => {
    const text = "a\u001b[2J\u0007b\r\nc\td\u009b31m\u202ee\u007f\ud800"

    assert.equal(printable(text), "a\\x1b[2J\\x07b\\r\\nc\\td\\x9b31m\\u202ee\\x7f\\ud800")
    assert.equal(printableLines("a\n\tb\u001b"), "a\n\tb\\x1b")
  })

  test("as JSON parses to the same value", () => {
    const value = { text: "a\u009b31m\u202e\u001b é 漢" }
    const json = printableJson(JSON.stringify(value))

    assert.deepEqual(JSON.parse(json), value)
    assert.doesNotMatch(json, /[\u0000-\u001f\u007f-\u009f\u202e]/)
  })

  test("has a width in columns, and is cut with an ellipsis", () => {
    assert.equal(widthOf("漢字"), 4)
    assert.equal(widthOf("é"), 1)
    assert.equal(cutTo("漢字です", 5), "漢字…")
    assert.equal(cutTo("abc", 3), "abc")
  })
})

describe("tables", () => {
  const columns = [
    { header: "KEY", text: (row: readonly string[]) => row[0]! },
    { header: "WHAT", text: (row: readonly string[]) => row[1]! },
  ]
  const paint = paintFor(false, {})

  test("in a table that is too wide, only the widest column is cut", () => {
    const table = formatTable([["a", "x".repeat(50)]], columns, { width: 20, paint, hasHeaders: true })

    assert.equal(table, `KEY  WHAT\na    ${"x".repeat(14)}…\n`)
  })

  test("an id that is too wide for its line is printed above its row, on several lines if needed; notes are printed below", () => {
    const [id, state, note] = [0, 1, 2].map((index) => (row: readonly string[]) => row[index]!)
    const runs = [
      { header: "RUN", text: id!, isId: true },
      { header: "STATE", text: state! },
      { header: "MESSAGE", text: note!, below: "cut" as const },
    ]
    const rows = [
      ["x".repeat(45), "succeeded", ""],
      ["short", "failed", "there is no such file or folder as the one named"],
    ]

    const table = formatTable(rows, runs, { width: 40, paint, hasHeaders: true })

    assert.equal(
      table,
      [
        "RUN",
        "  STATE      MESSAGE",
        "x".repeat(40),
        "x".repeat(5),
        "  succeeded",
        "short",
        "  failed     there is no such file or f…",
        "",
      ].join("\n"),
    )
  })

  test("a table can have 200,000 rows", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [String(index), "x"])

    assert.equal(formatTable(rows, columns, { width: 80, paint, hasHeaders: false }).length, 200_000 * 10)
  })

  test("a cell with a tab or a line break can't break a row", () => {
    assert.equal(formatTsv([["a\tb", "c\nd"]], columns, true), "KEY\tWHAT\na\\tb\tc\\nd\n")
  })

  test("colours are used on terminals, unless NO_COLOR or TERM=dumb is set", () => {
    assert.equal(paintFor(true, {})("red", "x"), "\u001b[31mx\u001b[0m")
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }])
      assert.equal(paintFor(true, env)("red", "x"), "x")
    assert.equal(paintFor(false, { FORCE_COLOR: "1" })("red", "x"), "\u001b[31mx\u001b[0m")
  })
})
