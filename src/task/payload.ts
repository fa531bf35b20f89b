import { BelfryError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { describeIssues, type SchemaResult } from "../core/standard-schema.ts"
import type { AnyTask } from "./task.ts"

/** A stored payload as the task's code will see it. */
export async function validatePayload(task: AnyTask, payload: Json): Promise<unknown> {
  return payloadOrThrow(task, await checkPayload(task, payload))
}

/** Stores keep nothing and null alike: nothing is tried first, null if the schema refuses nothing. */
export function checkPayload(task: AnyTask, payload: Json): Checked {
  if (task.payload === null) return { value: payload ?? undefined }
  const schema = task.payload["~standard"]
  const checked = schema.validate(payload ?? undefined)
  if (payload !== null) return checked
  const orNull = (nothing: SchemaResult<unknown>): Checked => {
    if (nothing.issues === undefined) return nothing
    return whenChecked(schema.validate(null), (asNull) => (asNull.issues === undefined ? asNull : nothing))
  }
  return whenChecked(checked, orNull)
}

type Checked = SchemaResult<unknown> | Promise<SchemaResult<unknown>>

/** Whether the schema takes its time; not every promise is one of Node's own. */
export function isLater(checked: Checked): checked is Promise<SchemaResult<unknown>> {
  return "then" in checked
}

/** Stays synchronous if it is: see `declareSchedule`. */
function whenChecked(checked: Checked, next: (result: SchemaResult<unknown>) => Checked): Checked {
  return isLater(checked) ? Promise.resolve(checked).then(next) : next(checked)
}

export function payloadOrThrow(task: AnyTask, result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value
  throw new BelfryError(
    "BELFRY_PAYLOAD_INVALID",
    `Payload of task "${task.name}" is invalid${describeIssues(result.issues)}.`,
    { details: { option: "payload", task: task.name, issues: result.issues } },
  )
}
