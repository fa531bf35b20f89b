import { BelfryError } from "belfry"
import { systemClock } from "../../../src/engine/clock.ts"
import { loadDriver } from "../../../src/stores/sqlite/driver.ts"
import { createSqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts"

/**
 * Run by root: opens the file as a user without rights and prints the error's code. Everything is loaded before, because the
 * sources may lie in a folder that only root can read.
 */
const NOBODY = 65_534
const driver = await loadDriver()
process.setgroups?.([])
process.setgid?.(NOBODY)
process.setuid?.(NOBODY)

const options = { path: process.argv[2]!, durability: "normal", lockDeadlineMs: 5_000 } as const
const store = createSqliteStore(options, systemClock, async () => driver)
try {
  await store.open()
  console.log(JSON.stringify("opened"))
} catch (error) {
  console.log(JSON.stringify(error instanceof BelfryError ? error.code : String(error)))
}
