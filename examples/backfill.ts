/** Backfills runs for past days: makes a plan first, then creates the runs. `npx tsx examples/backfill.ts` */
import { createScheduler, defineTask, memory } from "belfry"

const importOrders = defineTask({
  name: "import-orders",
  run: ({ run }) => ({ success: true, message: `orders of ${run.scheduledFor?.toISOString().slice(0, 10)}` }),
})

const scheduler = createScheduler({
  store: memory(),
  tasks: [importOrders],
  schedules: [importOrders.schedule("nightly-import", { cron: "0 2 * * *" })],
})
await scheduler.start()

const day = 24 * 60 * 60 * 1_000
const range = { from: Date.now() - 5 * day, until: Date.now(), name: "before-launch" }
const plan = await scheduler.schedules.planBackfill("nightly-import", range)
console.log(`Planned: ${plan.occurrences.length} occurrences, ${plan.leftOut} left out`)

const runIds = await scheduler.schedules.backfill(plan, {
  by: "ada",
  onProgress: (done, total) => console.log(`Stored: ${done} of ${total}`),
})
while ((await unfinished()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
for (const id of runIds) {
  const run = await scheduler.runs.get(id)
  console.log(`${run?.state}  ${id}  ${run?.message}`)
}

// A backfill with the same name never runs an occurrence twice.
const again = await scheduler.schedules.planBackfill("nightly-import", range)
console.log(`Planned again: ${again.occurrences.length} occurrences, ${again.leftOut} left out`)
await scheduler.stop()

async function unfinished(): Promise<number> {
  const { pending, running } = await scheduler.runs.count({ schedule: "nightly-import" })
  return pending + running
}
