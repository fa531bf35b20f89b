import { assert, test } from "vitest"
import { leastCpuMs } from "../../../test/support/cpu-time.ts"
import { aSchedule, MADE_AT } from "../../../test/support/records.ts"
import { DAY } from "../time/instant.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"

test.each([{ cron: "* * * * * *" }, { every: "1s" }, { cron: "@every 1s" }] as const)(
  "planning after a year of missed seconds with %o takes less than 1 s of CPU time",
  (options) => {
    const schedule = aSchedule(options)

    assert.isBelow(
      leastCpuMs(() => planFire(schedule, NO_FACTS, MADE_AT + 365 * DAY)),
      1_000,
    )
  },
)
