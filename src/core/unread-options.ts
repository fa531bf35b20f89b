import type { Json } from "./json.ts"
import type { Trigger } from "./timetable.ts"

/**
 * Options that somebody wrote without our checks (by SQL) and that can't all be read. They come with the triggers, so that no plan is
 * made and every edit that mends them is seen as one; they are no time by themselves.
 */
export interface UnreadOptions {
  /** All of them, as they are written. */
  readonly written: { readonly [option: string]: Json }
  /** Those that can't be read. The others hold. */
  readonly unread: readonly string[]
}

type Problem = Required<Extract<Trigger, { kind: "unreadable" }>>

export function unreadOptionsIn(triggers: readonly { readonly kind: string }[]): Problem | null {
  return triggers.find(isProblem) ?? null
}

/** The triggers that say when. */
export function timesIn<Some extends { readonly kind: string }>(triggers: readonly Some[]): readonly Some[] {
  return triggers.filter((trigger) => !isProblem(trigger))
}

function isProblem(trigger: { readonly kind: string }): trigger is Problem {
  return trigger.kind === "unreadable" && "options" in trigger
}
