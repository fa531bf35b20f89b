/**
 * A whole scheduler on one store, in a process of its own. It prints a line when an attempt begins and when it ends.
 * `node --import tsx test/chaos/scheduler.ts <address> <name> <task>`: the task "slow" has a schedule that fires each second.
 * The task "asked" is performed when a test enqueues it; without a hint this process would find the run only after an hour. The
 * first attempt of the task "endless" never ends.
 */
import { createScheduler, defineTask, silentLogger } from "belfry"
import { storeAt } from "./store-at.ts"

const [address, name, taskName] = process.argv.slice(2) as [string, string, string]

const task = defineTask({
  name: taskName,
  lease: "3s",
  async run({ run }) {
    print({ what: "begun", runId: run.id, attempt: run.attempt })
    if (taskName === "endless" && run.attempt === 1) await new Promise(() => undefined)
    if (taskName === "slow") await new Promise((resolve) => setTimeout(resolve, 700))
    print({ what: "ended", runId: run.id, attempt: run.attempt })
  },
})

const scheduler = createScheduler({
  store: storeAt(address),
  tasks: [task],
  schedules:
    taskName === "slow"
      ? [task.schedule("every-second", { cron: "* * * * * *", overlap: "allow", catchUp: "all" })]
      : [],
  pollInterval: "1h",
  logger: silentLogger,
})
await scheduler.start({ roles: taskName === "slow" ? ["fire", "work"] : ["work"] })
print({ what: "started", runId: "", attempt: 0 })
process.on("SIGTERM", async () => {
  await scheduler.stop()
  process.exit(0)
})

function print(line: { what: string; runId: string; attempt: number }): void {
  console.log(JSON.stringify({ name, ...line }))
}
