import assert from "node:assert/strict"
import type { ScheduleView } from "../../src/index.ts"
import { type Terminal, terminal } from "./support.ts"

export const NIGHTLY = ["--task", "report", "--cron", "30 2 * * *", "--tz", "Europe/Berlin"] as const

/**
 * The first occurrence is far in the future and not near a change of clocks, so that the next occurrences don't depend on the
 * time of the test.
 */
export const FAR_AWAY = ["--starts-at", "2090-06-01 00:00"] as const

/** A terminal with the stored schedule "nightly". */
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
