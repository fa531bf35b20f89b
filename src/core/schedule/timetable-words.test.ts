import { assert, test } from "vitest"
import { aSchedule, at } from "../../../test/support/records.ts"
import { timetableOf } from "./schedule.ts"
import type { Trigger } from "./timetable.ts"
import { timetableInWords } from "./timetable-words.ts"

test.each<[string, readonly Trigger[]]>([
  ["At 09:00 every day", [{ kind: "cron", cron: "0 9 * * *", dayMatch: "either" }]],
  ["Once, at 2026-03-10T09:00:00Z", [{ kind: "at", at: at("09:00") }]],
  ["Never: the trigger can't be read", [{ kind: "cron", cron: "soon", dayMatch: "either" }]],
  ["Never: the trigger can't be read", [{ kind: "unreadable", why: "Its cron is 7." }]],
  [
    "At 09:00 every day; Once, at 2026-03-10T10:00:00Z",
    [
      { kind: "cron", cron: "0 9 * * *", dayMatch: "either" },
      { kind: "at", at: at("10:00") },
    ],
  ],
])("a timetable is described as %s: %j", (words, triggers) => {
  assert.equal(timetableInWords({ ...timetableOf(aSchedule()), triggers }), words)
})
