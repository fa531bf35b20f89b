import type { StandardSchema } from "../core/values/standard-schema.ts"

/** Collects the issues of a payload. One issue per field is enough, but every field is checked. */
export class Issues {
  readonly found: { readonly message: string; readonly path: readonly PropertyKey[] }[] = []

  add(path: PropertyKey | readonly PropertyKey[], message: string): void {
    this.found.push({ message, path: typeof path === "object" ? path : [path] })
  }
}

/** Makes a Standard Schema. `read` returns the value that the task gets, and adds to `issues`. */
export function schemaOf<Input, Output>(
  read: (value: Readonly<Record<string, unknown>>, issues: Issues) => Output,
): StandardSchema<Input, Output> {
  return {
    "~standard": {
      version: 1,
      vendor: "belfry",
      validate(value) {
        if (!isRecord(value))
          return { issues: [{ message: `expected an object, received ${kindOf(value)}` }] }
        const issues = new Issues()
        const output = read(value, issues)
        return issues.found.length === 0 ? { value: output } : { issues: issues.found }
      },
    },
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** An unknown field is a typing error, or an attempt to use something that isn't offered. */
export function refuseUnknown(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  issues: Issues,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      issues.add(key.slice(0, 80), `is not a known field; the fields are ${known.join(", ")}`)
  }
}

export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  return Array.isArray(value) ? "a list" : `a ${typeof value}`
}
