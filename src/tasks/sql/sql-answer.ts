import type { Json } from "../../core/values/json.ts"
import { storable } from "../../core/values/thrown.ts"
import type { RunLogger } from "../../task/task-context.ts"
import { isRecord } from "../schema.ts"
import { SqlFailure } from "./sql-failure.ts"

/** The answer of a function: `{"success": true, "message": "3 closed", "details": {…}}`. */
export interface SqlAnswer {
  readonly success: boolean
  readonly message: string | null
  readonly details: Json
}

const SHOWN_MAX_BYTES = 200
const FIELDS = ["success", "message", "details"]

/** `text` is null for SQL's null: there was no answer. */
export function answerOf(text: string | null, name: string, log: RunLogger): SqlAnswer {
  const answer = text === null ? undefined : (JSON.parse(text) as Json)
  const why = faultOf(answer)
  if (why !== null)
    throw new SqlFailure(
      `${name} answered ${shown(text)}, but ${why}. It must answer {"success": true or false, "message": "…", "details": …}. Its changes were rolled back.`,
    )
  const { success, message, details } = answer as { success: boolean; message?: string; details?: Json }
  const lost = Object.keys(answer as object).filter((field) => !FIELDS.includes(field))
  if (lost.length > 0)
    log.warn(
      `The answer of ${name} has fields that are not kept: ${storable(lost.join(", "), SHOWN_MAX_BYTES)}. Put them into "details".`,
    )
  const standard = success ? null : `${name} answered {"success": false} without a message`
  return { success, message: message ?? standard, details: details ?? null }
}

function faultOf(answer: unknown): string | null {
  if (answer === undefined) return "that is not an answer"
  if (!isRecord(answer)) return "that is not an object"
  const { success, message } = answer
  if (typeof success !== "boolean")
    return `"success" is ${success === undefined ? "missing" : "neither true nor false"}`
  // A null message counts as none: an SQL variable that was never set is null.
  if (message !== undefined && message !== null && typeof message !== "string")
    return '"message" is not a string'
  return null
}

function shown(text: string | null): string {
  return text === null ? "NULL" : storable(text, SHOWN_MAX_BYTES)
}
