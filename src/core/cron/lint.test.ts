import { describe, expect, test } from "vitest"
import { lint } from "../../cron.ts"
import { DAY, MINUTE } from "../time/instant.ts"
import { zoneNamed } from "../time/zone.ts"
import type { CronOptions } from "./cron.ts"
import { type Lint, type LintCode, type LintFacts, lintCron } from "./lint.ts"
import { CURRENT_NAMES } from "./lint-zone.ts"
import { parseCron } from "./parse.ts"

/** A Thursday. */
const NOW = Date.UTC(2026, 0, 15)
const IN_BERLIN = { timezone: "Europe/Berlin" }

interface Case {
  readonly cron: string
  readonly options?: CronOptions
  readonly facts?: LintFacts
}

const CASES: readonly { code: LintCode; rule: string; fires: readonly Case[]; silent: readonly Case[] }[] = [
  {
    code: "L01",
    rule: "a step that doesn't divide its field evenly",
    fires: [
      { cron: "*/7 * * * *" },
      { cron: "0 */5 * * *" },
      { cron: "0 0 */2 * *" },
      { cron: "0 0 1 */5 *" },
      { cron: "0 0 * * */2" },
      { cron: "*/25 * * * * *" },
      { cron: "0-59/7 * * * *" },
      { cron: "H/7 * * * *" },
    ],
    silent: [
      { cron: "*/15 * * * *" },
      { cron: "0 */6 * * *" },
      { cron: "5/15 * * * *" },
      { cron: "*/60 * * * *" },
      { cron: "0 9-17/3 * * *" },
      { cron: "0-30/7 * * * *" },
      { cron: "H/15 * * * *" },
      { cron: "0,7,14 * * * *" },
      { cron: "@every 7m" },
    ],
  },
  {
    code: "L02",
    rule: "both day fields",
    fires: [{ cron: "0 9 1-7 * 1" }, { cron: "0 9 1-7 * +1" }, { cron: "0 9 */2 * 1" }],
    silent: [{ cron: "0 9 1-7 * *" }, { cron: "0 9 * * 1" }, { cron: "0 9 1 * ?" }],
  },
  {
    code: "L03",
    rule: "no occurrence within five years",
    fires: [{ cron: "0 0 29 2 +MON" }, { cron: "@every 2000d" }],
    silent: [{ cron: "0 0 29 2 *" }, { cron: "@yearly" }, { cron: "@every 1d" }],
  },
  {
    code: "L04",
    rule: "a fixed time that a clock change skips",
    fires: [
      { cron: "30 2 * * *", options: IN_BERLIN },
      { cron: "0-45/5 2 * * 0", options: IN_BERLIN },
      { cron: "0 0 * * *", options: { timezone: "America/Santiago" } },
    ],
    silent: [
      { cron: "30 2 * * *" },
      { cron: "30 3 * * *", options: IN_BERLIN },
      { cron: "0 3 * * *", options: IN_BERLIN },
      { cron: "30 2 * * 1", options: IN_BERLIN },
      { cron: "*/30 2 * * *", options: IN_BERLIN },
      { cron: "30 2 * * *", options: { timezone: "Asia/Tokyo" } },
    ],
  },
  {
    code: "L05",
    rule: "a fixed time that a clock change repeats",
    fires: [
      { cron: "30 2 * * *", options: IN_BERLIN },
      { cron: "0 1 * * *", options: { timezone: "America/New_York" } },
    ],
    silent: [
      { cron: "30 2 * * *" },
      { cron: "0 3 * * *", options: IN_BERLIN },
      { cron: "30 2 * 1-9 *", options: IN_BERLIN },
      { cron: "30 * * * *", options: IN_BERLIN },
    ],
  },
  {
    code: "L06",
    rule: "many schedules in the same minute",
    fires: [{ cron: "0 0 * * *", facts: { sameMinute: { others: 41 } } }],
    silent: [{ cron: "0 0 * * *" }, { cron: "0 0 * * *", facts: { sameMinute: { others: 9 } } }],
  },
  {
    code: "L07",
    rule: "runs longer than the interval between occurrences, with overlap skip",
    fires: [{ cron: "*/5 * * * *", facts: { duration: { p95Ms: 6 * MINUTE, overlap: "skip" } } }],
    silent: [
      { cron: "*/5 * * * *" },
      { cron: "*/5 * * * *", facts: { duration: { p95Ms: 5 * MINUTE, overlap: "skip" } } },
      { cron: "*/5 * * * *", facts: { duration: { p95Ms: 6 * MINUTE, overlap: "queue" } } },
    ],
  },
  {
    code: "L08",
    rule: "a day that some months don't have",
    fires: [
      { cron: "0 0 31 * *" },
      { cron: "0 0 30 * *" },
      { cron: "0 0 29 * *" },
      { cron: "0 0 29-31 * *" },
      { cron: "0 0 31W * *" },
    ],
    silent: [
      { cron: "0 0 28 * *" },
      { cron: "0 0 L * *" },
      { cron: "0 0 25-31 * *" },
      { cron: "0 0 31 1,12 *" },
      { cron: "0 0 * * *" },
    ],
  },
  {
    code: "L09",
    rule: "a zone that is an abbreviation, an old name or a fixed offset",
    fires: [
      "EST",
      "CET",
      "GMT",
      "US/Eastern",
      "us/eastern",
      "Japan",
      "Europe/Kiev",
      "Asia/Calcutta",
      "Etc/GMT+5",
    ].map((timezone) => ({ cron: "0 12 * * *", options: { timezone } })),
    silent: ["UTC", "Etc/UTC", "Europe/Berlin", "Europe/Amsterdam", "Asia/Kolkata", "Europe/Kyiv"].map(
      (timezone) => ({
        cron: "0 12 * * *",
        options: { timezone },
      }),
    ),
  },
  {
    code: "L10",
    rule: "more than 1,440 runs a day",
    fires: [{ cron: "*/30 * * * * *" }, { cron: "@every 10s" }],
    silent: [{ cron: "* * * * *" }, { cron: "@every 1m" }, { cron: "* 9 * * * *" }],
  },
  {
    code: "L11",
    rule: "an end within 30 days",
    fires: [
      { cron: "@daily", facts: { until: NOW + 29 * DAY } },
      { cron: "@daily", facts: { runsLeft: 10 } },
      { cron: "@daily", facts: { until: NOW - DAY } },
    ],
    silent: [
      { cron: "@daily" },
      { cron: "@daily", facts: { until: NOW + 31 * DAY } },
      { cron: "@daily", facts: { runsLeft: 40 } },
    ],
  },
]

describe.each(CASES.map((about) => [`${about.code} names ${about.rule}`, about] as const))(
  "%s",
  (_title, { code, fires, silent }) => {
    test.each(titled(fires))("%s has the lint", (_title, about) => {
      expect(codesOf(about)).toContain(code)
    })

    test.each(titled(silent))("%s doesn't have the lint", (_title, about) => {
      expect(codesOf(about)).not.toContain(code)
    })
  },
)

test("an ordinary expression has no lint", () => {
  expect(lintsOf({ cron: "0 9 * * 1-5", options: IN_BERLIN })).toEqual([])
})

test("lints are sorted by code", () => {
  const codes = codesOf({ cron: "30 2 31 * */2", options: IN_BERLIN, facts: { runsLeft: 1 } })

  expect(codes).toEqual(["L01", "L02", "L04", "L05", "L08", "L11"])
})

test("the five days named by L02 are consecutive occurrences also across a clock change", () => {
  const now = Date.UTC(2026, 2, 27)
  const cron = parseCron("0 0 1-31 * 0", IN_BERLIN)

  const rule = lintCron(cron, now).find(({ code }) => code === "L02")

  expect(rule?.message).toContain("Sat 28 Mar 2026, Sun 29 Mar 2026, Mon 30 Mar 2026, Tue 31 Mar 2026")
})

test("every proposed expression can be parsed and no longer has the warning", () => {
  for (const cron of ["0 9 1-7 * 1", "@monthly", "0 0 31 * *", "5 0 0 1,31W * ?", "0 0 29 2 *"]) {
    for (const { code, fix } of lintsOf({ cron })) {
      if (fix?.option !== "cron") continue
      const warnings = lintsOf({ cron: fix.value }).filter(({ severity }) => severity === "warn")
      expect(warnings.map((warning) => warning.code)).not.toContain(code)
    }
  }
})

test("the current name of a zone has the same clock as the old name", () => {
  const instants = [NOW, NOW + 182 * DAY]
  const offsets = (name: string) => instants.map((instant) => zoneNamed(name).spanAt(instant).offset)

  const different = [...CURRENT_NAMES].filter(([old, today]) => `${offsets(old)}` !== `${offsets(today)}`)

  expect(different).toEqual([])
})

test("the public function `lint` accepts times as Date or text", () => {
  const cron = parseCron("@daily")

  const lints = lint(cron, { now: new Date(NOW), until: "2026-01-20T00:00:00Z" })

  expect(lints).toEqual(lintCron(cron, NOW, { until: Date.UTC(2026, 0, 20) }))
})

function titled(cases: readonly Case[]): (readonly [string, Case])[] {
  return cases.map((about) => {
    const { cron, options, facts } = about
    return [
      [cron, ...[options, facts].filter(Boolean).map((given) => JSON.stringify(given))].join(" "),
      about,
    ]
  })
}

function lintsOf({ cron, options = {}, facts = {} }: Case): Lint[] {
  return lintCron(parseCron(cron, { seed: "nightly", ...options }), NOW, facts)
}

function codesOf(about: Case): readonly LintCode[] {
  return lintsOf(about).map(({ code }) => code)
}
