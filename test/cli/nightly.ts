import assert from "node:assert/strict"
import type { ScheduleView } from "../../src/index.ts"
import { type Terminal, terminal } from "./support.ts"

export const NIGHTLY = ["--task", "report", "--cron", "30 2 * * *", "--tz", "Europe/Berlin"] as const

/**
 * Its first occurrence is too far away to pass while a test runs, and no clock changes near it: what comes next doesn't
 * depend on the day and the hour of the test.
 */
export const FAR_AWAY = ["--starts-at", "2090-06-01 00:00"] as const

/** A terminal where the schedule "nightly" is stored. */
export async function withNightly(
  options?: Parameters<typeof terminal>[0],
  ...more: readonly string[]
): Promise<Terminal> {
  const shell = terminal(options)
  const { code, err } = await shell.run("schedule", "create", "nightly", ...NIGHTLY, ...more, "-q")
  assert.equal(code, 0, err)
  return shell
}

export function getSchedule(shell: Terminal, key = "nightly"): Promise<ScheduleView> {
  return shell.json<ScheduleView>("schedule", "get", key)
}
