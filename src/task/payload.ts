import { BelfryError } from "../core/errors.ts"
import type { Json } from "../core/values/json.ts"
import { describeIssues, type SchemaResult } from "../core/values/standard-schema.ts"
import type { AnyTask } from "./task.ts"

/** Returns a stored payload as the task's code gets it. Rejects if the payload is invalid. */
export async function validatePayload(task: AnyTask, payload: Json): Promise<unknown> {
  return payloadOrThrow(task, await checkPayload(task, payload))
}

/** Stores keep `undefined` as null. So for null the schema is first given `undefined`, then, if it refuses that, null. */
export function checkPayload(task: AnyTask, payload: Json): Checked {
  if (task.payload === null) return { value: payload ?? undefined }
  const schema = task.payload["~standard"]
  const checked = schema.validate(payload ?? undefined)
  if (payload !== null) return checked
  const orNull = (asUndefined: SchemaResult<unknown>): Checked => {
    if (asUndefined.issues === undefined) return asUndefined
    return whenChecked(schema.validate(null), (asNull) =>
      asNull.issues === undefined ? asNull : asUndefined,
    )
  }
  return whenChecked(checked, orNull)
}

type Checked = SchemaResult<unknown> | Promise<SchemaResult<unknown>>

/** True if the schema is asynchronous. Its promise may be of another class than Node's `Promise`. */
export function isAsync(checked: Checked): checked is Promise<SchemaResult<unknown>> {
  return "then" in checked
}

/** Stays synchronous for a synchronous schema: `declareSchedule` needs that. */
function whenChecked(checked: Checked, next: (result: SchemaResult<unknown>) => Checked): Checked {
  return isAsync(checked) ? Promise.resolve(checked).then(next) : next(checked)
}

export function payloadOrThrow(task: AnyTask, result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value
  throw new BelfryError(
    "BELFRY_PAYLOAD_INVALID",
    `Payload of task "${task.name}" is invalid${describeIssues(result.issues)}.`,
    { details: { option: "payload", task: task.name, issues: result.issues } },
  )
}
