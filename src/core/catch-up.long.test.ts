import { assert, test } from "vitest"
import { leastCpuMs } from "../../test/support/cpu-time.ts"
import { aSchedule, MADE_AT } from "../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { DAY } from "./instant.ts"
import { NO_FACTS } from "./plan.ts"

test.each([{ cron: "* * * * * *" }, { every: "1s" }, { cron: "@every 1s" }] as const)(
  "a year of missed seconds by %o costs little",
  (options) => {
    const schedule = aSchedule(options)

    assert.isBelow(
      leastCpuMs(() => planFire(schedule, NO_FACTS, MADE_AT + 365 * DAY)),
      1_000,
    )
  },
)
