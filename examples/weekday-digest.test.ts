/** A schedule tested over a weekend and a clock change, in milliseconds. `npx tsx --test examples/weekday-digest.test.ts` */
import assert from "node:assert/strict"
import { test } from "node:test"
import { defineTask } from "belfry"
import { createTestScheduler } from "belfry/testing"
import * as z from "zod"

const sendDigest = defineTask({
  name: "send-digest",
  payload: z.object({ to: z.string(), limit: z.number().default(10) }),
  retry: { attempts: 2, delay: "1m" },
  run: ({ payload }) => ({ success: true, message: `${payload.limit} lines to ${payload.to}` }),
})

const weekdayDigest = sendDigest.schedule("weekday-digest", {
  cron: "0 8 * * 1-5",
  timezone: "Europe/Paris",
  payload: { to: "everybody" },
})

test("the digest is sent at eight in Paris, also after a clock change", async () => {
  await using test = await createTestScheduler({
    tasks: [sendDigest],
    schedules: [weekdayDigest],
    startAt: "2026-03-27T06:59:00Z", // A Friday; Paris is still at UTC+1.
  })

  await test.advance("3d")

  const runs = await test.runs({ task: sendDigest })
  assert.deepEqual(
    runs.map((run) => [run.scheduledFor?.toISOString(), run.message]),
    [
      ["2026-03-27T07:00:00.000Z", "10 lines to everybody"],
      ["2026-03-30T06:00:00.000Z", "10 lines to everybody"], // Monday; Paris is at UTC+2 now.
    ],
  )
})

test("the occurrences dropped by a pause are one line of the ledger, with the person and the reason", async () => {
  await using test = await createTestScheduler({
    tasks: [sendDigest],
    schedules: [weekdayDigest],
    startAt: "2026-06-01T00:00:00Z",
  })
  await test.scheduler.schedules.pause("weekday-digest", { reason: "mail server moves", by: "ada" })

  await test.advance("4d")
  await test.scheduler.schedules.resume("weekday-digest")
  await test.waitFor({ task: sendDigest, state: "succeeded" }, { within: "1d" })

  const { items: entries } = await test.scheduler.schedules.occurrences("weekday-digest")
  assert.deepEqual(
    entries.map(({ outcome, count, message }) => [outcome, count, message]),
    [
      ["succeeded", 1, "10 lines to everybody"],
      ["skipped", 4, "Paused by ada: mail server moves"],
    ],
  )
})
