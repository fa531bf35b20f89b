import { BelfryError } from "../../core/errors.ts"
import { toPayload } from "../../core/values/json.ts"
import { shown } from "../../core/values/shown.ts"
import { describeThrown } from "../../core/values/thrown.ts"
import { validatePayload } from "../../task/payload.ts"
import type { AnyTask } from "../../task/task.ts"

/** The tasks that this process defines. Payloads of other tasks are checked when the run starts. */
type Tasks = ReadonlyMap<string, AnyTask>

/** For a payload that is already stored: checks its stored form by the task's schema. */
export async function checkStoredPayload(tasks: Tasks, name: string, payload: unknown): Promise<void> {
  const task = tasks.get(name)
  if (task !== undefined) await validated(task, payload)
}

/** For a new payload: also refuses any payload if the task has no schema. */
export async function checkPayload(tasks: Tasks, name: string, payload: unknown): Promise<void> {
  const task = tasks.get(name)
  if (task === undefined) return
  checkTakesPayload(task, payload)
  await validated(task, payload)
}

/** Refuses a payload for a task that takes none. Otherwise it would be stored and silently ignored. */
export function checkTakesPayload(task: AnyTask, payload: unknown): void {
  if (task.payload !== null || payload === undefined || payload === null) return
  const text = `Task "${task.name}" takes no payload: it has no schema. Received ${shown(payload)}. Define the task with a payload schema if it takes one.`
  throw new BelfryError("BELFRY_PAYLOAD_INVALID", text, { details: { option: "payload", task: task.name } })
}

/** Checks by the schema, and then by the task's own `examine`, which may find more reasons why a run would fail. */
export async function examinePayload(tasks: Tasks, name: string, payload: unknown): Promise<void> {
  const task = tasks.get(name)
  if (task === undefined) return
  checkTakesPayload(task, payload)
  const read = await validated(task, payload)
  try {
    await task.examine?.(read)
  } catch (cause) {
    if (cause instanceof BelfryError) throw cause
    const why = cause instanceof Error ? cause.message : describeThrown(cause)
    const text = `Payload of task "${name}" can't be used: ${why}`
    throw new BelfryError("BELFRY_PAYLOAD_INVALID", text, {
      details: { option: "payload", task: name },
      cause,
    })
  }
}

function validated(task: AnyTask, payload: unknown): Promise<unknown> {
  return validatePayload(task, toPayload(payload, `Payload of task "${task.name}"`))
}
