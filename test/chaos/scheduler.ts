/**
 * A whole scheduler on one store, in a process of its own. It says each attempt it begins and ends, a line each.
 * `node --import tsx test/chaos/scheduler.ts <address> <name> <task>`: the task "slow" has a schedule that fires each second;
 * the task "asked" is performed when somebody enqueues it, which only a hint can tell this process within the hour; the
 * first attempt of the task "endless" never ends.
 */
import { createScheduler, defineTask, silentLogger } from "belfry"
import { storeAt } from "./store-at.ts"

const [address, name, taskName] = process.argv.slice(2) as [string, string, string]

const task = defineTask({
  name: taskName,
  lease: "3s",
  async run({ run }) {
    say({ what: "begun", runId: run.id, attempt: run.attempt })
    if (taskName === "endless" && run.attempt === 1) await new Promise(() => undefined)
    if (taskName === "slow") await new Promise((resolve) => setTimeout(resolve, 700))
    say({ what: "ended", runId: run.id, attempt: run.attempt })
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
say({ what: "started", runId: "", attempt: 0 })
process.on("SIGTERM", async () => {
  await scheduler.stop()
  process.exit(0)
})

function say(line: { what: string; runId: string; attempt: number }): void {
  console.log(JSON.stringify({ name, ...line }))
}
