import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Store } from "belfry/store"
import { afterEach } from "vitest"
import { systemClock } from "../../../src/runtime/clock.ts"
import type { Timers } from "../../../src/stores/kit/timers.ts"
import { type Database, loadDriver } from "../../../src/stores/sqlite/driver.ts"
import { createSqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts"
import { PATIENCE_MS } from "../../support/patience.ts"
import { until as untilWithin } from "../../support/scratch.ts"

export { rejectsWith } from "../../support/scratch.ts"

/** Waits for the condition, for as long as it takes. */
export function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  return untilWithin(condition, what, PATIENCE_MS)
}

const folders: string[] = []
const closings: (() => unknown)[] = []

/** The path of a new file, in a folder that is deleted after the test. */
export function aPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "belfry-sqlite-"))
  folders.push(folder)
  return join(folder, "belfry.db")
}

export interface StoreOptions {
  readonly lockDeadlineMs?: number
  readonly clock?: Timers
}

/** Like `sqlite(path)`, but with a long lock deadline. It is closed when the test ends. */
export function aStore(path: string, options: StoreOptions = {}): Store {
  const { lockDeadlineMs = PATIENCE_MS, clock = systemClock } = options
  const store = createSqliteStore({ path, durability: "normal", lockDeadlineMs }, clock)
  closings.push(() => store.close())
  return store
}

export async function anOpenStore(path = aPath(), options: StoreOptions = {}): Promise<Store> {
  const store = aStore(path, options)
  await store.open()
  return store
}

/** A store and its own connection, for statements that no operation of the store makes. */
export async function aStoreAndItsDatabase(
  path: string,
  durability: "normal" | "full" = "normal",
): Promise<{ store: Store; database: Database }> {
  const driver = await loadDriver()
  let opened: Database | null = null
  const load = async () => ({
    open(path: string) {
      opened = driver.open(path)
      return opened
    },
  })
  const store = createSqliteStore({ path, durability, lockDeadlineMs: PATIENCE_MS }, systemClock, load)
  closings.push(() => store.close())
  await store.open()
  return { store, database: opened! }
}

/** A connection of its own to the file, as another program has. */
export async function aDatabase(path: string): Promise<Database> {
  const database = (await loadDriver()).open(path)
  closings.push(() => {
    try {
      database.close()
    } catch {
      // The test has closed it.
    }
  })
  return database
}

export async function integrityOf(path: string): Promise<unknown> {
  const database = await aDatabase(path)
  const { integrity_check: answer } = database.prepare("pragma integrity_check").get() as {
    integrity_check: string
  }
  database.close()
  return answer
}

afterEach(async () => {
  for (const close of closings.splice(0)) await close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
