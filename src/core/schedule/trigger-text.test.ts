import { assert, test } from "vitest"
import { at } from "../../../test/support/records.ts"
import { HOUR } from "../time/instant.ts"
import type { Trigger } from "./timetable.ts"
import { describeTriggers, triggerText } from "./trigger-text.ts"

test.each<[string, Trigger]>([
  ["0 9 * * *", { kind: "cron", cron: "0 9 * * *", dayMatch: "either" }],
  ["@at 2026-03-10T09:00:00Z", { kind: "at", at: at("09:00") }],
  ["@every 1h30m", { kind: "every", everyMs: 1.5 * HOUR, anchor: null }],
  ["@every 1s500ms", { kind: "every", everyMs: 1_500, anchor: null }],
  ["@every 1d1h1m1s", { kind: "every", everyMs: 25 * HOUR + 61_000, anchor: null }],
  ["@every 1ms", { kind: "every", everyMs: 1, anchor: null }],
  ["@unreadable", { kind: "every", everyMs: 0, anchor: null }],
  ["@unreadable", { kind: "every", everyMs: Number.NaN, anchor: null }],
  ["@unreadable", { kind: "unreadable", why: "Its cron is 7." }],
])("a trigger is written as %s: %j", (text, trigger) => {
  assert.equal(triggerText(trigger), text)
})

test("several triggers are written with commas between them", () => {
  const triggers: readonly Trigger[] = [
    { kind: "at", at: at("09:00") },
    { kind: "every", everyMs: HOUR, anchor: null },
  ]

  assert.equal(describeTriggers(triggers), "@at 2026-03-10T09:00:00Z, @every 1h")
})
