/** The result of one check, such as those of `belfry doctor`. */
export interface Check {
  readonly name: string
  readonly result: "ok" | "warning" | "problem"
  readonly message: string
  /** What to do. Null: nothing. */
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
