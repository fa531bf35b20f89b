import type { Json } from "../values/json.ts"
import type { Trigger } from "./timetable.ts"

/**
 * Options of a row written by SQL without our checks, some of which can't be read. They are kept among the triggers, so that the
 * schedule is not planned and an edit that repairs them counts as a change. They are not a time.
 */
export interface UnreadOptions {
  /** All options, as written. */
  readonly written: { readonly [option: string]: Json }
  /** The names of the options that can't be read. The others apply. */
  readonly unread: readonly string[]
}

type Problem = Required<Extract<Trigger, { kind: "unreadable" }>>

export function unreadOptionsIn(triggers: readonly { readonly kind: string }[]): Problem | null {
  return triggers.find(isProblem) ?? null
}

/** The triggers without unreadable options. */
export function readableTriggers<Some extends { readonly kind: string }>(
  triggers: readonly Some[],
): readonly Some[] {
  return triggers.filter((trigger) => !isProblem(trigger))
}

function isProblem(trigger: { readonly kind: string }): trigger is Problem {
  return trigger.kind === "unreadable" && "options" in trigger
}
