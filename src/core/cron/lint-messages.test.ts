import { expect, test } from "vitest"
import { DAY, MINUTE } from "../time/instant.ts"
import type { CronOptions } from "./cron.ts"
import { type Lint, type LintFacts, lintCron } from "./lint.ts"
import { parseCron } from "./parse.ts"

/** A Thursday. */
const NOW = Date.UTC(2026, 0, 15)
const IN_BERLIN = { timezone: "Europe/Berlin" }

interface Message {
  readonly cron: string
  readonly options?: CronOptions
  readonly now?: number
  readonly facts?: LintFacts
  readonly lint: Lint
}

const MESSAGES: readonly Message[] = [
  {
    cron: "*/7 * * * *",
    lint: {
      code: "L01",
      severity: "warn",
      message: 'Minute "*/7" starts again each hour: from minute 56 to minute 0 it is 4 minutes, not 7.',
      fix: { option: "every", value: "7m" },
    },
  },
  {
    cron: "0 9 1-7 * 1",
    lint: {
      code: "L02",
      severity: "warn",
      message:
        'The cron occurs on each day that matches the day of month "1-7" or the day of week "1", as in POSIX. ' +
        "To require both, put + before the " +
        "weekday. Next: Mon 19 Jan 2026, Mon 26 Jan 2026, Sun 1 Feb 2026, Mon 2 Feb 2026 and Tue 3 Feb 2026.",
      fix: { option: "cron", value: "0 9 1-7 * +1" },
    },
  },
  {
    cron: "0 9 13 * +FRI",
    lint: {
      code: "L02",
      severity: "info",
      message:
        'The cron occurs only on days that match both the day of month "13" and the day of week "FRI". ' +
        "Next: Fri 13 Feb 2026, Fri 13 Mar 2026, " +
        "Fri 13 Nov 2026, Fri 13 Aug 2027 and Fri 13 Oct 2028.",
    },
  },
  {
    cron: "0 0 29 2 +MON",
    lint: {
      code: "L03",
      severity: "error",
      message: "Doesn't run within five years. Next: Mon 29 Feb 2044.",
    },
  },
  {
    cron: "30 2 * * *",
    options: IN_BERLIN,
    lint: {
      code: "L04",
      severity: "warn",
      message:
        "02:30 is skipped by the clock on Sun 29 Mar 2026 in Europe/Berlin, 02:00 to 03:00: it runs once, at 03:00 (gap: after).",
    },
  },
  {
    cron: "0,30 2 * * *",
    options: { ...IN_BERLIN, dst: { gap: "skip" } },
    lint: {
      code: "L04",
      severity: "warn",
      message:
        "02:00, with later times, is skipped by the clock on Sun 29 Mar 2026 in Europe/Berlin, 02:00 to 03:00: it is left out (gap: skip).",
    },
  },
  ...(["after", "skip"] as const).map((gap) => ({
    cron: "30 2 * * *",
    options: { timezone: "Pacific/Apia", dst: { gap } },
    now: Date.UTC(2011, 11, 1),
    lint: {
      code: "L04" as const,
      severity: "warn" as const,
      message: "There is no Fri 30 Dec 2011 in Pacific/Apia: it doesn't run for that day.",
    },
  })),
  {
    cron: "30 2 * * *",
    options: IN_BERLIN,
    lint: {
      code: "L05",
      severity: "warn",
      message:
        "02:30 is shown twice by the clock on Sun 25 Oct 2026 in Europe/Berlin, 03:00 back to 02:00: it runs the first time only (overlap: first).",
    },
  },
  {
    cron: "30 2 * * *",
    options: { ...IN_BERLIN, dst: { overlap: "both" } },
    lint: {
      code: "L05",
      severity: "warn",
      message:
        "02:30 is shown twice by the clock on Sun 25 Oct 2026 in Europe/Berlin, 03:00 back to 02:00: it runs both times (overlap: both).",
    },
  },
  {
    cron: "0 2 * * *",
    facts: { sameMinute: { others: 41 } },
    lint: {
      code: "L06",
      severity: "info",
      message: "41 other schedules start in the same minute. Set a jitter to spread them.",
      fix: { option: "jitter", value: "1m" },
    },
  },
  {
    cron: "*/5 * * * *",
    facts: { duration: { p50Ms: 11 * MINUTE, p95Ms: 12 * MINUTE, overlap: "skip" } },
    lint: {
      code: "L07",
      severity: "warn",
      message:
        'One run in twenty takes longer than 12m, but the next is due after 5m and overlap is "skip": about 2 in 3 occurrences will be skipped.',
    },
  },
  {
    cron: "0 0 1,31 * *",
    lint: {
      code: "L08",
      severity: "warn",
      message:
        "There is no day 31 in February, April, June, September and November: nothing runs for it then. L is the last day of any month.",
      fix: { option: "cron", value: "0 0 1,L * *" },
    },
  },
  {
    cron: "0 12 * * *",
    options: { timezone: "US/Eastern" },
    lint: {
      code: "L09",
      severity: "warn",
      message: 'Time zone "US/Eastern" is an old name of America/New_York.',
      fix: { option: "timezone", value: "America/New_York" },
    },
  },
  {
    cron: "0 12 * * *",
    options: { timezone: "Etc/GMT+5" },
    lint: {
      code: "L09",
      severity: "warn",
      message:
        'Time zone "Etc/GMT+5" is 5 h behind UTC all year (its sign is inverted) and has no summer time. To follow local time, use the name of a place.',
    },
  },
  {
    cron: "* * * * * *",
    lint: { code: "L10", severity: "info", message: "Makes 86,400 runs on each day it runs." },
  },
  {
    cron: "@daily",
    facts: { until: NOW + 40 * DAY, runsLeft: 3 },
    lint: { code: "L11", severity: "info", message: "It ends within 30 days, at 2026-01-18T00:00:00Z." },
  },
]

test.each(MESSAGES)(
  "the message of $lint.code for $cron has the effect and its time",
  ({ cron, options, now = NOW, facts, lint }) => {
    const lints = lintCron(parseCron(cron, options), now, facts)

    expect(lints.find(({ code }) => code === lint.code)).toEqual(lint)
  },
)
