/** One thing that was looked at, such as by `belfry doctor`, and what was found. */
export interface Check {
  readonly name: string
  readonly result: "ok" | "warning" | "problem"
  readonly message: string
  /** What to do, if anything. */
  readonly remedy: string | null
}

export function ok(name: string, message: string): Check {
  return { name, result: "ok", message, remedy: null }
}

export function warning(name: string, message: string, remedy: string): Check {
  return { name, result: "warning", message, remedy }
}

export function problem(name: string, message: string, remedy: string): Check {
  return { name, result: "problem", message, remedy }
}
