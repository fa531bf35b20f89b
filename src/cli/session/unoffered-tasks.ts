import type { Client } from "../../scheduler/client.ts"
import { offeredTasks } from "../../scheduler/online-workers.ts"
import type { Call } from "../parsing/command.ts"
import { isForPeople, warn } from "../printing/output.ts"
import { allWorkers } from "../printing/worker-rows.ts"
import { nearestTo } from "./lookups.ts"

/** Runs of a task that no worker offers wait forever. `known`: the tasks of this configuration. */
export async function warnIfUnknown(
  call: Call,
  scheduler: Client,
  { task, known }: { task: string; known: readonly string[] },
): Promise<void> {
  const names = [...new Set([...known, ...offeredTasks(await allWorkers(scheduler)).keys()])]
  if (names.includes(task)) return
  const near = nearestTo(task, names)
  const suggestion = near === null ? `Known tasks: ${names.sort().join(", ")}.` : `Did you mean ${near}?`
  warn(
    call,
    `Neither a worker nor this configuration has the task "${task}", so its runs will wait. ${suggestion}`,
  )
}

/** Printed below a table of schedules if no worker offers their tasks. */
export async function warnOfUnoffered(
  call: Call,
  scheduler: Client,
  schedules: readonly { readonly task: string }[],
): Promise<void> {
  if (!isForPeople(call) || schedules.length === 0) return
  const offered = offeredTasks(await allWorkers(scheduler))
  if (offered.size === 0) {
    warn(call, "No worker is online, so due runs wait. Start one: belfry start")
    return
  }
  const unoffered = [...new Set(schedules.map(({ task }) => task))].filter((task) => !offered.has(task))
  if (unoffered.length === 0) return
  const more = unoffered.length > 5 ? ` and ${unoffered.length - 5} more` : ""
  const names = unoffered.slice(0, 5).map((task) => {
    const near = nearestTo(task, [...offered.keys()])
    return near === null ? task : `${task} (did you mean ${near}?)`
  })
  warn(call, `No worker offers ${names.join(", ")}${more}, so runs wait.`)
}
