import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineSchedule } from "./definition.ts"
import { minimalOptions, minimalPolicies } from "./minimal-options.ts"
import type { ScheduleOptions } from "./options.ts"

const defined = (options: ScheduleOptions) =>
  defineSchedule(options, { id: "s", task: "t", payload: null, owner: null, release: 0, now: null })

/** Options as a user wrote them, and the minimal options for the same definition. */
const OPTIONS: readonly (readonly [written: ScheduleOptions, minimal: object])[] = [
  [{}, {}],
  [{ catchUp: "once", overlap: "skip", dst: { gap: "after" }, jitter: 0, dependsOn: [] }, {}],
  [{ timeout: 600_000 }, { timeout: "10m" }],
  [{ timeout: 90_061 }, { timeout: 90_061 }],
  [
    { jitter: "90s", spacing: "36h" },
    { jitter: "90s", spacing: "36h" },
  ],
  [{ startsAt: 1_800_000_000_000 }, { startsAt: "2027-01-15T08:00:00Z" }],
  [{ endsAt: "0001-01-01T00:00:00.007Z" }, { endsAt: "0001-01-01T00:00:00.007Z" }],
  [
    { maxRuns: 3, maxConcurrentRuns: 2, removeWhenFinished: true },
    { maxRuns: 3, maxConcurrentRuns: 2, removeWhenFinished: true },
  ],
  [{ dst: { gap: "skip", overlap: "first" } }, { dst: { gap: "skip" } }],
  [{ catchUp: { policy: "none", grace: "1m" } }, { catchUp: "none" }],
  [{ catchUp: { policy: "none", grace: "90s" } }, { catchUp: { policy: "none", grace: "90s" } }],
  [{ catchUp: { policy: "once", grace: 0 } }, { catchUp: { policy: "once", grace: 0 } }],
  [{ catchUp: { policy: "once", window: 7_200_000 } }, { catchUp: { policy: "once", window: "2h" } }],
  [{ catchUp: { policy: "none", limit: 5 } }, { catchUp: { policy: "none", limit: 5 } }],
  [{ overlap: { policy: "queue", limit: 1 } }, { overlap: "queue" }],
  [{ overlap: { policy: "queue", limit: 7 } }, { overlap: { policy: "queue", limit: 7 } }],
  [
    { overlap: "queue", catchUp: { policy: "all", limit: 9 } },
    { overlap: "queue", catchUp: { policy: "all", limit: 9 } },
  ],
  [
    { overlap: { policy: "queue", limit: 1 }, catchUp: "all" },
    { overlap: { policy: "queue", limit: 1 }, catchUp: "all" },
  ],
  [
    { overlap: "allow", catchUp: "all" },
    { overlap: "allow", catchUp: "all" },
  ],
  [{ dependsOn: [{ schedule: "a", within: 3_600_000 }] }, { dependsOn: [{ schedule: "a", within: "1h" }] }],
  [{ retry: { attempts: 3 } }, { retry: {} }],
  [
    { retry: { attempts: 5, backoff: "fixed", delay: "2h" } },
    { retry: { attempts: 5, backoff: "fixed", delay: "2h" } },
  ],
  [{ retry: { maxDelay: "10s", jitter: 0 } }, { retry: { maxDelay: "10s", jitter: 0 } }],
]

describe("minimal policies", () => {
  test.each(OPTIONS)("the policies %j are written as %j", (written, minimal) => {
    const definition = defined({ cron: "0 3 * * *", ...written })

    assert.deepEqual(minimalPolicies(definition), minimal)
    assert.deepEqual(defined({ cron: "0 3 * * *", ...minimal }), definition)
  })
})

test.each<ScheduleOptions>([
  { cron: "0 3 * * 1", dayMatch: "both", timezone: "Asia/Tokyo", priority: 7 },
  { every: "90m", anchor: "2026-01-01T00:00:00Z", enabled: false, tags: ["a"], description: "b" },
  { at: "2026-01-01T00:00:00.001Z", timeout: "5m" },
  { triggers: [{ cron: "0 3 * * *" }, { every: 1_001 }] },
])("the minimal options of %j make the same definition", (options) => {
  assert.deepEqual(defined(minimalOptions(defined(options))), defined(options))
})

test("an interval that begins when the schedule is made is written without an anchor", () => {
  assert.deepEqual(minimalOptions(defined({ every: "90m" })), { every: "90m" })
})

test("a trigger that can't be read is written as unreadable with its reason", () => {
  const definition = { ...defined({ cron: "0 3 * * *" }), triggers: [{ kind: "unreadable", why: "no cron" }] }

  assert.deepEqual(minimalOptions(definition as ReturnType<typeof defined>), { unreadable: "no cron" })
})

test("an invalid value written by SQL without our checks is given unchanged, so that the option check refuses it", () => {
  const definition = { ...defined({ cron: "0 3 * * *" }), startsAt: 1e20 }

  assert.equal(minimalPolicies(definition)["startsAt"], 1e20)
})
