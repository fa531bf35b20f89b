import { assert, describe, test } from "vitest"
import { lintTexts, NOW } from "../../../test/support/lint-texts.ts"
import { DAY, HOUR, LATEST, MINUTE } from "../time/instant.ts"
import type { LintFacts } from "./lint.ts"

describe("lints that need facts about the schedule", () => {
  const long = (p50Ms: number, p95Ms: number): LintFacts => ({ duration: { p50Ms, p95Ms, overlap: "skip" } })
  const slow = (takes: string, outcome: string) =>
    `L07 warn: One run in twenty takes longer than ${takes}, but the next is due after 5m and overlap is "skip": ${outcome}.`

  test.each<[string, LintFacts, string]>([
    [
      "*/5 * * * *",
      { sameMinute: { others: 10 } },
      "L06 info: 10 other schedules start in the same minute. Set a jitter to spread them. → jitter 1m",
    ],
    [
      "0 2 * * *",
      { sameMinute: { others: 1_041 } },
      "L06 info: 1,041 other schedules start in the same minute. Set a jitter to spread them. → jitter 1m",
    ],
    [
      "@every 1h",
      { sameMinute: { others: 10 } },
      "L06 info: 10 other schedules start in the same minute. Set a jitter to spread them. → jitter 1m",
    ],
    [
      "*/5 * * * *",
      long(5 * MINUTE, 6 * MINUTE),
      slow("6m", "such a run causes the next occurrence to be skipped"),
    ],
    [
      "*/5 * * * *",
      long(MINUTE, 12 * MINUTE),
      slow("12m", "such a run causes the next 2 occurrences to be skipped"),
    ],
    ["*/5 * * * *", long(6 * MINUTE, 12 * MINUTE), slow("12m", "about 1 in 2 occurrences will be skipped")],
    [
      "*/5 * * * *",
      { duration: { p95Ms: 6 * MINUTE, overlap: "skip" } },
      slow("6m", "such a run causes the next occurrence to be skipped"),
    ],
    ["@daily", { until: NOW + 30 * DAY }, "L11 info: It ends within 30 days, at 2026-02-14T00:00:00Z."],
    ["@daily", { until: NOW }, "L11 info: It ends within 30 days, at 2026-01-15T00:00:00Z."],
    ["@daily", { until: NOW - 1 }, "L11 info: It ended at 2026-01-14T23:59:59.999Z."],
    ["@daily", { runsLeft: 30 }, "L11 info: It ends within 30 days, at 2026-02-14T00:00:00Z."],
    [
      "@daily",
      { until: NOW + DAY, runsLeft: 5 },
      "L11 info: It ends within 30 days, at 2026-01-16T00:00:00Z.",
    ],
  ])("the lint of %s with the facts %j is: %s", (cron, facts, words) => {
    assert.deepEqual(lintTexts(cron, { facts }), [words])
  })

  test("L07 compares with the shortest interval between two occurrences of the day", () => {
    const facts: LintFacts = { duration: { p95Ms: 31 * MINUTE, overlap: "skip" } }

    assert.match(
      lintTexts("0 9,12,18 * * *", { facts: long(0, 3 * HOUR + 1) })[0]!,
      /the next is due after 3h /,
    )
    assert.deepEqual(lintTexts("0 9,12,18 * * *", { facts }), [])
  })

  test("L11 counts up to 50,000 remaining runs", () => {
    assert.include(
      lintTexts("* * * * * *", { facts: { runsLeft: 50_000 } }),
      "L11 info: It ends within 30 days, at 2026-01-15T13:53:20Z.",
    )
  })

  test("a schedule with at most one remaining occurrence has neither L07 nor L11", () => {
    const facts: LintFacts = { ...long(0, 400 * DAY), runsLeft: 5 }

    assert.deepEqual(lintTexts("0 0 31 12 *", { facts, now: Date.UTC(9999, 11, 30) }), [])
    assert.deepEqual(lintTexts("0 0 1 1 *", { facts, now: LATEST - DAY }), [
      "L03 error: Doesn't run within five years. Next: never again.",
    ])
  })

  test.each<[string, LintFacts]>([
    ["@daily", { until: NOW + 30 * DAY + 1 }],
    ["@daily", { runsLeft: 31 }],
    ["* * * * * *", { runsLeft: 50_001 }],
    ["0 0 29 2 *", { runsLeft: 5 }],
  ])("%s with the facts %j has no L11", (cron, facts) => {
    assert.deepEqual(
      lintTexts(cron, { facts }).filter((words) => words.startsWith("L11")),
      [],
    )
  })
})

test.each([
  ["*/30 * * * * *", "2,880 runs on each day it runs"],
  ["@every 7s", "12,343 runs on each day it runs"],
  ["* * 9 * * 1", "3,600 runs on each day it runs"],
  ["* * * * * *", "86,400 runs on each day it runs"],
])("L10 for more than one run a minute: %s makes %s", (cron, words) => {
  assert.deepEqual(lintTexts(cron), [`L10 info: Makes ${words}.`])
})
