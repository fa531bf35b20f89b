import type { ApplyStep } from "../../scheduler/schedules/apply.ts"
import { changeWords } from "./changed-values.ts"
import type { RowFormat } from "./output.ts"
import type { Colour } from "./table.ts"

/** The action of a step, or why it was not taken. */
type Outcome = "create" | "change" | "same" | "delete" | "left alone" | "failed" | "not tried"

function outcomeOf({ action, refused, isNotTried }: ApplyStep): Outcome {
  if (refused !== null) return "failed"
  if (isNotTried) return "not tried"
  return action === "owned" ? "left alone" : action
}

const COLOURS: Readonly<Record<Outcome, Colour | null>> = {
  create: "green",
  change: "yellow",
  same: "dim",
  delete: "red",
  "left alone": "dim",
  failed: "red",
  "not tried": "yellow",
}

export function applyRows(withValues: boolean): RowFormat<ApplyStep> {
  return {
    columns: [
      { header: "ID", text: ({ id }) => id, paint: () => "bold", isId: true },
      { header: "ACTION", text: outcomeOf, paint: (step) => COLOURS[outcomeOf(step)] },
      {
        header: "DETAILS",
        below: "whole",
        text: (step) => whyOf(step) ?? (withValues ? valuesOf(step) : optionsOf(step).join(", ")),
      },
    ],
    nameOf: ({ id }) => id,
    record: (step) => {
      const values = withValues ? { values: step.changes } : {}
      return { id: step.id, action: outcomeOf(step), fields: optionsOf(step), why: whyOf(step), ...values }
    },
    none: "The files contain no schedules.",
  }
}

function whyOf({ action, owner, refused, isNotTried }: ApplyStep): string | null {
  if (refused !== null) return `${action}: ${refused.message}`
  if (isNotTried) return "another schedule's problem stopped it"
  if (action === "owned") return `declared in code (owner ${owner})`
  return action === "delete" ? "in no file" : null
}

function optionsOf({ changes }: ApplyStep): readonly string[] {
  return changes.map(({ option }) => option)
}

function valuesOf({ changes }: ApplyStep): string {
  return changes.map(changeWords).join(", ")
}

/** Whether the step created, changed or deleted its schedule. */
export function isTaken(step: ApplyStep): boolean {
  return ["create", "change", "delete"].includes(outcomeOf(step))
}

export function summaryOf(steps: readonly ApplyStep[]): string {
  const count = (outcome: Outcome) => steps.filter((step) => outcomeOf(step) === outcome).length
  const [failed, notTried] = [count("failed"), count("not tried")]
  return [
    `${count("create")} created, ${count("change")} changed, ${count("same")} the same, ${count("delete")} deleted, ${count("left alone")} left alone`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(notTried === 0 ? [] : [`${notTried} not tried`]),
  ].join(", ")
}
