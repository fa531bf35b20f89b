/** A module of its own, so that the command line's table of commands loads nothing else. */
export const RUN_STATES = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"] as const

export type RunState = (typeof RUN_STATES)[number]
