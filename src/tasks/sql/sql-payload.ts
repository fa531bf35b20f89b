import { BelfryError } from "../../core/errors.ts"
import type { OptionType } from "../../core/options/checked.ts"
import type { Json } from "../../core/values/json.ts"
import { shown } from "../../core/values/shown.ts"
import type { StandardSchema } from "../../core/values/standard-schema.ts"
import { type Issues, kindOf, refuseUnknown, schemaOf } from "../schema.ts"

/** The payload of the sql task. */
export interface SqlPayload {
  /** `name` in the first of the task's schemas, or `schema.name`. */
  readonly function: string
  /** The function's argument, if it takes one. */
  readonly payload?: Json
}

/** The payload as the task's code gets it: a plain name in an allowed schema. */
export interface SqlCall {
  readonly schema: string
  readonly name: string
  /** Undefined: no payload. The function then gets SQL's null. */
  readonly payload: Json | undefined
}

const PLAIN_NAME = /^[a-z_][a-z0-9_]{0,62}$/

export function sqlPayloadSchema(schemas: readonly string[]): StandardSchema<SqlPayload, SqlCall> {
  return schemaOf((value, issues) => {
    refuseUnknown(value, ["function", "payload"], issues)
    const { schema, name } = readFunction(value["function"], schemas, issues)
    return { schema, name, payload: value["payload"] as Json | undefined }
  })
}

function readFunction(
  value: unknown,
  schemas: readonly string[],
  issues: Issues,
): { schema: string; name: string } {
  const nothing = { schema: "", name: "" }
  if (typeof value !== "string") {
    issues.add("function", `expected a string, received ${kindOf(value)}`)
    return nothing
  }
  const parts = value.split(".", 3)
  if (parts.length > 2 || !parts.every((part) => PLAIN_NAME.test(part))) {
    const shown = JSON.stringify(value.slice(0, 80))
    issues.add(
      "function",
      `${shown} is not the name of a function; write name or schema.name, each with lower case letters, digits and "_", at most 63 characters`,
    )
    return nothing
  }
  const [schema, name] = parts.length === 2 ? parts : [schemas[0], parts[0]]
  if (!schemas.includes(schema!)) {
    issues.add("function", `schema "${schema}" is not allowed here; allowed are ${schemas.join(", ")}`)
    return nothing
  }
  return { schema: schema!, name: name! }
}

/** The schemas whose functions the task may call. */
export const SCHEMAS: OptionType<readonly string[]> = {
  allowed: 'a list of schemas, such as ["app"]',
  read: checkSchemas,
}

function checkSchemas(schemas: unknown): readonly string[] {
  if (!Array.isArray(schemas) || schemas.length === 0)
    throw noSchemas(
      'The sql task needs `schemas`: the schemas whose functions may be called, such as ["app"].',
    )
  for (const schema of schemas) {
    if (typeof schema !== "string" || !PLAIN_NAME.test(schema)) {
      const why = 'use lower case letters, digits and "_"'
      throw noSchemas(`The sql task can't call from schema ${shown(schema)}: ${why}.`)
    }
    if (/^pg_|^information_schema$/.test(schema)) {
      const why = "which is PostgreSQL's own. Create a schema for your functions"
      throw noSchemas(`The sql task can't call from schema "${schema}", ${why}.`)
    }
  }
  return [...schemas]
}

function noSchemas(text: string): BelfryError {
  return new BelfryError("BELFRY_TASK_INVALID", text, { details: { option: "schemas" } })
}

/** Quoted, because a plain name may still be a keyword of SQL, such as "user". */
export function quoted(name: string): string {
  // Names are checked before they come here. This makes sure that an unchecked text never becomes SQL.
  if (!PLAIN_NAME.test(name)) throw new BelfryError("BELFRY_TASK_INVALID", "This is not a plain name.")
  return `"${name}"`
}
