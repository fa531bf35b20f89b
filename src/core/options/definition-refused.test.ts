import { assert, describe, test } from "vitest"
import { aDefinition, at, thrownBy } from "../../../test/support/records.ts"
import type { ErrorCode } from "../errors.ts"
import type { ScheduleOptions } from "./options.ts"

/** Options as they come from JavaScript or over HTTP. The types would refuse most of them. */
const options = (value: object) => value as ScheduleOptions

const REFUSED: readonly (readonly [ScheduleOptions, ErrorCode, string | RegExp])[] = [
  [
    options({ triggers: [{}] }),
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": triggers[0].trigger must be exactly one of cron, every, at and in; found none.',
  ],
  [
    options({ triggers: [{ dayMatch: "both" }] }),
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": triggers[0].dayMatch needs cron, which is missing: give both, even to change only dayMatch.',
  ],
  [
    options({ triggers: [{ cron: "@daily" }, { anchor: at("10:00") }] }),
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": triggers[1].anchor needs every, which is missing: give both, even to change only anchor.',
  ],
  [
    { cron: "@daily", every: "1h" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": trigger must be exactly one of cron, every, at and in; found cron and every.',
  ],
  [
    { cron: "@daily", triggers: [{ every: "1h" }] },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": triggers can\'t be combined with cron, every, at or in.',
  ],
  [
    options({ cron: "@daily", overlap: { policy: "skip", limit: 2 } }),
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": overlap.limit applies to queue, not to skip.',
  ],
  [
    { cron: "@daily", anchor: at("10:00") },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": anchor applies to every, not to cron.',
  ],
  [
    { at: at("10:00"), anchor: at("10:00") },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": anchor applies to every, not to at.',
  ],
  [
    { every: "1h", dayMatch: "either" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": dayMatch applies to cron, not to every.',
  ],
  [
    { triggers: [{ cron: "@daily" }, { at: at("10:00"), dayMatch: "both" }] },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": triggers[1].dayMatch applies to cron, not to at.',
  ],
  [
    { triggers: [{ every: "1h" }], anchor: at("10:00") },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": anchor can\'t be combined with triggers: put it into the trigger that it applies to.',
  ],
  [
    { triggers: [{ cron: "@daily" }], dayMatch: "both" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": dayMatch can\'t be combined with triggers: put it into the trigger that it applies to.',
  ],
  [
    { triggers: [] },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": triggers is a list of 0; use a list of 1 to 32.',
  ],
  [
    { triggers: Array(33).fill({ every: "1h" }) },
    "BELFRY_SCHEDULE_INVALID",
    /triggers is a list of 33; use a list of 1 to 32/,
  ],
  [
    { cron: "" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": cron is ""; use text of 1 to 256 characters.',
  ],
  [
    { cron: "@daily", timezone: "" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": timezone is ""; use text of 1 to 100 characters.',
  ],
  [
    { cron: "@daily", timezone: "A".repeat(101) },
    "BELFRY_SCHEDULE_INVALID",
    /timezone is "A{80}…"; use text of 1 to 100 characters/,
  ],
  [
    { cron: "0 25 * * *" },
    "BELFRY_CRON_FIELD_RANGE",
    /^Schedule "report": cron: Hour "25" is out of range 0-23/,
  ],
  [
    { triggers: [{ cron: "@daily" }, { cron: "nonsense" }] },
    "BELFRY_CRON_FIELD_COUNT",
    /^Schedule "report": triggers\[1\]\.cron: "nonsense"/,
  ],
  [{ cron: "0 0 30 2 *" }, "BELFRY_CRON_NEVER", /never matches/],
  [
    { cron: "@daily", timezone: "Mars/Olympus" },
    "BELFRY_TIMEZONE_UNKNOWN",
    /^Schedule "report": timezone: Time zone "Mars\/Olympus" is unknown/,
  ],
  [{ every: "1h", timezone: "Mars/Olympus" }, "BELFRY_TIMEZONE_UNKNOWN", /"Mars\/Olympus" is unknown/],
  [
    { every: "999ms" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": every is "999ms"; use a duration of at least 1s.',
  ],
  [
    options({ every: "soon" }),
    "BELFRY_DURATION_INVALID",
    /^Schedule "report": every is "soon", which is not a duration/,
  ],
  [
    { at: "tomorrow" },
    "BELFRY_INSTANT_INVALID",
    /^Schedule "report": at is "tomorrow", which is not an instant/,
  ],
  [
    { startsAt: at("10:00"), endsAt: at("09:00") },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": endsAt is before startsAt.',
  ],
  [
    { maxRuns: 0 },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": maxRuns is 0; use a whole number from 1 to 1000000000.',
  ],
  [
    { timeout: 0 },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": timeout is 0; use a duration of at least 1ms.',
  ],
  [
    { tags: Array(51).fill("a") },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": tags is a list of 51; use a list of at most 50.',
  ],
  [
    { maxConcurrentRuns: 1.5 },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": maxConcurrentRuns is 1.5; use a whole number from 1 to 10000.',
  ],
  [
    options({ catchUp: "some" }),
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": catchUp is "some"; use "once", "none" or "all".',
  ],
  [
    { catchUp: { policy: "once", limit: 1_001 } },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": catchUp.limit is 1001; use a whole number from 1 to 1000.',
  ],
  [
    { catchUp: "all" },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": catchUp "all" needs overlap "queue" or "allow": with "skip" only one run would remain.',
  ],
  [
    { catchUp: "all", overlap: "replace" },
    "BELFRY_SCHEDULE_INVALID",
    /with "replace" only one run would remain/,
  ],
  [
    options({ overlap: "wait" }),
    "BELFRY_SCHEDULE_INVALID",
    /^Schedule "report": overlap is "wait"; use "skip"/,
  ],
  [
    { overlap: { policy: "queue", limit: 101 } },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": overlap.limit is 101; use a whole number from 1 to 50.',
  ],
  [
    options({ dst: { gap: "jump" } }),
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": dst.gap is "jump"; use "after" or "skip".',
  ],
  [options({ dst: { overlap: "last" } }), "BELFRY_SCHEDULE_INVALID", /dst.overlap is "last"/],
  [options({ cron: "@daily", dayMatch: "any" }), "BELFRY_SCHEDULE_INVALID", /dayMatch is "any"/],
  [
    { dependsOn: [{ schedule: "report", within: "1h" }] },
    "BELFRY_SCHEDULE_INVALID",
    'Schedule "report": dependsOn names the schedule itself.',
  ],
  [
    { dependsOn: [{ schedule: "no such", within: "1h" }] },
    "BELFRY_SCHEDULE_INVALID",
    /dependsOn\[0\].schedule is "no such"; use 1 to 200 letters/,
  ],
  [options({ priority: "urgent" }), "BELFRY_SCHEDULE_INVALID", /priority is "urgent"; use "low", "normal"/],
]

for (const [given, code, message] of REFUSED) {
  test(`a schedule with ${JSON.stringify(given).slice(0, 70)} is refused with ${code}`, () => {
    const error = thrownBy(() => aDefinition(given))

    assert.equal(error.code, code)
    if (typeof message === "string") assert.equal(error.message, message)
    else assert.match(error.message, message)
  })
}

describe("id, task, payload and `in`", () => {
  test.each(["", "two words", "a/b", "ä", "a@b", "x".repeat(201), "a\n", 5])(
    "the schedule id %j is refused",
    (id) => {
      const error = thrownBy(() => aDefinition({}, { id: id as string }))

      assert.equal(error.code, "BELFRY_SCHEDULE_INVALID")
      assert.match(error.message, /^Schedule: id is .*; use 1 to 200 letters, digits, "_" and "-"\.$/)
    },
  )

  test.each(["a", "Nightly_report-2", "x".repeat(200)])("the schedule id %j is accepted", (id) => {
    assert.doesNotThrow(() => aDefinition({}, { id }))
  })

  test("a schedule without a task is refused", () => {
    const error = thrownBy(() => aDefinition({}, { task: "" }))

    assert.match(error.message, /^Schedule "report": task is ""; use 1 to 200/)
    assert.deepEqual(error.details, { id: "report", option: "task", value: "" })
  })

  test("`in` is refused in a declared schedule, because it would mean another time at each start", () => {
    const error = thrownBy(() => aDefinition({ in: "1h" }, { now: null }))

    assert.match(
      error.message,
      /in would mean a different time at every start of the program: declare `at` instead/,
    )
  })

  test("a payload that JSON can't represent is refused with the schedule's id", () => {
    const error = thrownBy(() => aDefinition({}, { payload: { size: 1n } }))

    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    assert.match(error.message, /^Payload of schedule "report" can't be written as JSON/)
  })
})
