import { BelfryError } from "belfry"
import { systemClock } from "../../../src/runtime/clock.ts"
import { aHeartbeat } from "../../../src/store/laws/factories.ts"
import { loadDriver } from "../../../src/stores/sqlite/driver.ts"
import { createSqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts"

/**
 * Run by root: opens the file as a user without rights, writes to it and prints the error's code. All code is loaded before,
 * because the sources may be in a folder that only root can read.
 */
const NOBODY = 65_534
const driver = await loadDriver()
process.setgroups?.([])
process.setgid?.(NOBODY)
process.setuid?.(NOBODY)

const options = { path: process.argv[2]!, durability: "normal", lockDeadlineMs: 5_000 } as const
const store = createSqliteStore(options, systemClock, async () => driver)
try {
  // If the last writer's log still exists, opening succeeds, and the first write fails.
  await store.open()
  await store.heartbeat(aHeartbeat())
  console.log(JSON.stringify("written"))
} catch (error) {
  console.log(JSON.stringify(error instanceof BelfryError ? error.code : String(error)))
}
