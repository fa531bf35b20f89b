/**
 * The part of Standard Schema 1 that Belfry uses. Zod, Valibot and ArkType schemas fit, without being dependencies.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** ` at userId: expected string, received number; limit: …`, or `: expected an object` for the value as a whole. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ message, path }) => {
    const where = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    return where === "" ? message : `${where}: ${message}`
  })
  const more = issues.length - shown.length
  const isAtPath = (issues[0]?.path ?? []).length > 0
  return `${isAtPath ? " at " : ": "}${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}`
}
