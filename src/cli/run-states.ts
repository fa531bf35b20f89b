import type { RunState } from "../core/run.ts"

/** As they can be asked for; a module of its own, so that the table of commands loads nothing else. */
export const RUN_STATES = [
  "pending",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped",
] as const satisfies readonly RunState[]
