import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Store } from "belfry/store"
import { afterEach } from "vitest"
import { systemClock } from "../../../src/engine/clock.ts"
import { type Database, loadDriver } from "../../../src/stores/sqlite/driver.ts"
import { createSqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts"

const folders: string[] = []
const closings: (() => unknown)[] = []

/** The path of a file that isn't there yet, in a folder that goes with the test. */
export function aPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "belfry-sqlite-"))
  folders.push(folder)
  return join(folder, "belfry.db")
}

export function aStore(
  path: string,
  over: { durability?: "normal" | "full"; lockDeadlineMs?: number } = {},
): Store {
  const store = createSqliteStore({ path, durability: "normal", lockDeadlineMs: 5_000, ...over }, systemClock)
  closings.push(() => store.close())
  return store
}

export async function anOpenStore(path = aPath()): Promise<Store> {
  const store = aStore(path)
  await store.open()
  return store
}

/** With the store's own connection, to do to it what no operation does. */
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
  const store = createSqliteStore({ path, durability, lockDeadlineMs: 5_000 }, systemClock, load)
  closings.push(() => store.close())
  await store.open()
  return { store, database: opened! }
}

/** The file by SQL alone, as another program would have it. */
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
