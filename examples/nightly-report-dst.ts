/**
 * A nightly report at 02:30 in Berlin over both clock changes of 2026. `npx tsx examples/nightly-report-dst.ts`
 * On 29 March there is no 02:30; on 25 October there are two. The virtual clock lets both nights pass at once.
 */
import { defineTask } from "belfry"
import { describe, lint, parse } from "belfry/cron"
import { createTestScheduler } from "belfry/testing"

const CRON = "30 2 * * *"
const ZONE = "Europe/Berlin"

const cron = parse(CRON, { timezone: ZONE })
console.log(`${CRON} means: ${describe(cron)}, ${ZONE}`)
for (const { code, message } of lint(cron, { now: "2026-03-01T00:00:00Z" }))
  console.log(`${code}  ${message}`)

const report = defineTask({ name: "report", run: () => undefined })

for (const [night, startAt] of [
  ["The clock jumps from 02:00 to 03:00", "2026-03-28T12:00:00Z"],
  ["The clock goes back from 03:00 to 02:00", "2026-10-24T12:00:00Z"],
] as const) {
  console.log(`\n${night}`)
  await using test = await createTestScheduler({
    tasks: [report],
    schedules: [
      report.schedule("nightly", { cron: CRON, timezone: ZONE }),
      report.schedule("strict", { cron: CRON, timezone: ZONE, dst: { gap: "skip", overlap: "both" } }),
    ],
    startAt,
  })
  await test.advance("1d")
  for (const id of ["nightly", "strict"]) {
    const runs = await test.runs({ schedule: id })
    const times = runs.map((run) => `${wall(run.scheduledFor!)} (${run.scheduledFor!.toISOString()})`)
    console.log(`  ${id.padEnd(8)} ${times.join(", ") || "doesn't run"}`)
  }
}

function wall(date: Date): string {
  return date.toLocaleTimeString("en-GB", { timeZone: ZONE, hour: "2-digit", minute: "2-digit" })
}
