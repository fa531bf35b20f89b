import type { NewRun } from "../../core/run/run.ts"
import { concurrencyKeyOf, type NewSchedule } from "../../core/schedule/schedule.ts"
import type { Json } from "../../core/values/json.ts"
import { AN_INSTANT, aRun, aSchedule } from "./factories.ts"

/** Every field has a value. */
export function aFullRun(): NewRun {
  return aRun({
    payload: { user: "ann", items: [1, null, { deep: true }] },
    priority: 10,
    scheduleId: "nightly",
    scheduledFor: AN_INSTANT + 1,
    parentId: "flow@1",
    triggeredBy: "catchup",
    trigger: "schedule:0 7 * * *",
    missed: { from: AN_INSTANT - 3_600_000, until: AN_INSTANT + 1, count: 61 },
    liveKey: "nightly-live",
    concurrencyKey: concurrencyKeyOf("nightly"),
    concurrencyLimit: 3,
    retry: RETRY,
    timeoutMs: 45_000,
    reason: "asked for",
    by: "ann@example.org",
    delayMs: 60_000,
    notBefore: AN_INSTANT,
  })
}

export function aFullSchedule(): NewSchedule {
  return aSchedule({
    revision: 4,
    updatedAt: AN_INSTANT + 999,
    declaredAs: "a1b2c3",
    payload: { list: ["x"], nothing: null },
    triggers: [
      { kind: "cron", cron: "0 7 * * MON", dayMatch: "both" },
      { kind: "every", everyMs: 90_000, anchor: AN_INSTANT },
      { kind: "every", everyMs: 1_000, anchor: null },
      { kind: "at", at: AN_INSTANT + 7 },
    ],
    timezone: "Europe/Berlin",
    dst: { gap: "skip", overlap: "both" },
    ...{
      priority: -10,
      jitterMs: 30_000,
      spacingMs: 9,
      startsAt: AN_INSTANT,
      endsAt: AN_INSTANT + 5,
      maxRuns: 12,
    },
    ...{ removeWhenFinished: true, maxConcurrentRuns: 2, retry: RETRY, timeoutMs: 1, enabled: false },
    catchUp: { policy: "all", graceMs: 1, windowMs: 2, limit: 3 },
    overlap: { policy: "queue", limit: 5 },
    dependsOn: [{ scheduleId: "hourly", withinMs: 3_600_000 }],
    ...{ tags: ["billing", "tier one"], description: "Sends it", owner: "billing", release: 17 },
    ...{ nextRunAt: AN_INSTANT + 3, coveredUntil: AN_INSTANT + 2, firedCount: 9 },
    overrides: [
      { scheduledFor: AN_INSTANT + 4, dueAt: null, reason: "holiday", by: "ann" },
      { scheduledFor: AN_INSTANT + 6, dueAt: AN_INSTANT + 8, reason: null, by: null },
    ],
    paused: { at: AN_INSTANT, until: AN_INSTANT + 3, reason: "quiet week", by: "bob" },
    ...{ lastError: "unknown zone", finishedAt: AN_INSTANT + 10 },
  })
}

/** Texts that databases, drivers and encodings often damage. Without NUL, which PostgreSQL can't store. */
export const TEXTS = [
  "",
  " leading and trailing ",
  "Grüße, 東京, здравствуй, مرحبا",
  "👩‍👩‍👧‍👦 🏴‍☠️ e\u0301 é",
  `quotes ' " \` '' "" \\ \\n %s $1 :name ? -- ; /* */ ' or 1=1`,
  "control \u0001\u0008\t\n\r\u001b\u001f\u007f\u0085\u2028\ufeff",
  "null",
]

export const PAYLOADS: readonly Json[] = [
  ...[null, true, false, 0, -1, 0.1, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, "", "null", [], {}],
  [[[]], [null], [{}]],
  { $set: { "a.b": 1 }, "": 2, "'": [{ $gt: "" }], constructor: null },
  { a: { b: { c: { d: { e: { f: [1, [2, [3, [4]]]] } } } } } },
]

const RETRY = { attempts: 7, backoff: "linear", baseMs: 1_500, maxMs: 90_000, jitter: 0.125 } as const
