/**
 * A whole scheduler on one database, in a process of its own. It says each attempt it begins and ends, a line each.
 * `node --import tsx test/chaos/postgres-scheduler.ts <url> <name> <task>`: the task "slow" has a schedule, any other is
 * performed when somebody enqueues it, which is only noticed by a hint.
 */
import { createScheduler, defineTask, silentLogger } from "belfry"
import { postgres } from "belfry/postgres"

const [url, name, taskName] = process.argv.slice(2) as [string, string, string]

const task = defineTask({
  name: taskName,
  lease: "3s",
  async run({ run }) {
    console.log(JSON.stringify({ name, what: "begun", runId: run.id, attempt: run.attempt }))
    await new Promise((resolve) => setTimeout(resolve, taskName === "slow" ? 700 : 0))
    console.log(JSON.stringify({ name, what: "ended", runId: run.id, attempt: run.attempt }))
  },
})

const scheduler = createScheduler({
  store: postgres(url),
  tasks: [task],
  schedules:
    taskName === "slow"
      ? [task.schedule("every-second", { cron: "* * * * * *", overlap: "allow", catchUp: "all" })]
      : [],
  pollInterval: "1h",
  logger: silentLogger,
})
// The one that only works learns of a run by a hint: by polling it would take an hour.
await scheduler.start({ roles: taskName === "slow" ? ["fire", "work"] : ["work"] })
console.log(JSON.stringify({ name, what: "started", runId: "", attempt: 0 }))
process.on("SIGTERM", async () => {
  await scheduler.stop()
  process.exit(0)
})
