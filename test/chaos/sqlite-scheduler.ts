/**
 * A whole scheduler on one file, in a process of its own. It says each attempt it begins and ends, a line each.
 * `node --import tsx test/chaos/sqlite-scheduler.ts <path> <name>`
 */
import { createScheduler, defineTask, silentLogger } from "belfry"
import { sqlite } from "belfry/sqlite"

const [path, name] = process.argv.slice(2) as [string, string]

const slow = defineTask({
  name: "slow",
  lease: "2s",
  async run({ run }) {
    console.log(JSON.stringify({ name, what: "begun", runId: run.id, attempt: run.attempt }))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    console.log(JSON.stringify({ name, what: "ended", runId: run.id, attempt: run.attempt }))
  },
})

const scheduler = createScheduler({
  store: sqlite(path),
  tasks: [slow],
  schedules: [slow.schedule("every-second", { cron: "* * * * * *", overlap: "allow" })],
  logger: silentLogger,
})
await scheduler.start()
process.on("SIGTERM", async () => {
  await scheduler.stop()
  process.exit(0)
})
