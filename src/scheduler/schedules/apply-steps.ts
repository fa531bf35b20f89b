import type { ApplyStep } from "./apply.ts"

/** The steps of an apply that changes nothing, because one of them is refused. */
export function notTaken(steps: readonly ApplyStep[]): readonly ApplyStep[] {
  return steps.map((step) => ({ ...step, isNotTried: isChange(step) }))
}

function isChange({ action, refused }: ApplyStep): boolean {
  return refused === null && (action === "create" || action === "change" || action === "delete")
}
