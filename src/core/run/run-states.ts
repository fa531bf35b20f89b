/** A separate module, so that the CLI's table of commands loads nothing else. */
export const RUN_STATES = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"] as const

export type RunState = (typeof RUN_STATES)[number]

export type RunCounts = Record<RunState, number>

export function noRunCounts(): RunCounts {
  return { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
}
