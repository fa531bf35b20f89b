import type { StandardSchema } from "../core/standard-schema.ts"

/** Gathers what is wrong with a payload; the first issue of a field is enough, but every field is looked at. */
export class Issues {
  readonly found: { readonly message: string; readonly path: readonly PropertyKey[] }[] = []

  add(path: PropertyKey | readonly PropertyKey[], message: string): void {
    this.found.push({ message, path: typeof path === "object" ? path : [path] })
  }
}

/** A Standard Schema by hand: `read` answers the value as the task sees it, and notes what is wrong. */
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

/** A field nobody knows is a typing mistake, or somebody's attempt at more than is offered. */
export function refuseUnknown(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  issues: Issues,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) issues.add(key.slice(0, 80), `is not known; there are ${known.join(", ")}`)
  }
}

export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  return Array.isArray(value) ? "a list" : `a ${typeof value}`
}
