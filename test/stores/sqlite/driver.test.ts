import assert from "node:assert/strict"
import { BelfryError } from "belfry"
import { test } from "vitest"
import {
  type Driver,
  type DriverModules,
  installedModules,
  isSafeVersion,
  loadDriver,
} from "../../../src/stores/sqlite/driver.ts"

test.each([
  ["3.51.3", true],
  ["3.51.2", false],
  ["3.53.0", true],
  ["3.50.7", true],
  ["3.50.6", false],
  ["3.49.9", false],
  ["3.45.1", false],
  ["3.44.6", true],
  ["3.44.5", false],
  ["3.40.1", false],
  ["4.0.0", true],
])("SQLite %s is safe for several writers: %s", (version, isSafe) => {
  assert.equal(isSafeVersion(version), isSafe)
})

test("Node's own SQLite is used if it is new enough", async () => {
  const builtIn = driverOf("3.53.4")

  assert.equal(await loadDriver(modulesOf({ builtIn })), builtIn)
})

test("the SQLite of the package is used if Node's own is too old or missing", async () => {
  const bundled = driverOf("3.53.0")

  for (const builtIn of [driverOf("3.50.4"), null]) {
    assert.equal(await loadDriver(modulesOf({ builtIn, bundled })), bundled)
  }
})

test("an old SQLite of Node is used with a warning if no other can be loaded", async () => {
  const builtIn = driverOf("3.50.4")
  const warnings: string[] = []

  const driver = await loadDriver(modulesOf({ builtIn, warn: (message) => warnings.push(message) }))

  assert.equal(driver, builtIn)
  assert.match(warnings.join(), /SQLite 3\.50\.4 .* can lose writes/)
})

test("without any SQLite, the error says what to install", async () => {
  await assert.rejects(loadDriver(modulesOf({})), (error) => {
    assert.ok(error instanceof BelfryError)
    assert.equal(error.code, "BELFRY_STORE_UNFIT")
    assert.match(error.message, /npm install @photostructure\/sqlite@1\.2\.1/)
    return true
  })
})

test("the installed SQLite is safe, and loads without a warning", async () => {
  const warnings: unknown[] = []
  const onWarning = (warning: unknown) => warnings.push(warning)
  process.on("warning", onWarning)

  const database = (await loadDriver()).open(":memory:")
  const { version } = database.prepare("select sqlite_version() as version").get() as { version: string }
  database.close()
  await new Promise((resolve) => setImmediate(resolve))
  process.off("warning", onWarning)

  assert.ok(isSafeVersion(version), version)
  assert.deepEqual(warnings, [])
})

test("the driver of the package works on this Node, even if Node's own is used", async () => {
  const database = (await installedModules.bundled()).open(":memory:")
  const row = database.prepare("select 1 + 1 as two").get() as { two: number }
  database.close()

  assert.equal(row.two, 2)
})

function driverOf(version: string): Driver {
  const statement = {
    get: () => ({ version }),
    all: () => [],
    run: () => ({ changes: 0 }),
    setReturnArrays: () => undefined,
    setReadBigInts: () => undefined,
  }
  return { open: () => ({ prepare: () => statement, exec: () => undefined, close: () => undefined }) }
}

function modulesOf(over: {
  builtIn?: Driver | null
  bundled?: Driver
  warn?: (message: string) => void
}): DriverModules {
  return {
    builtIn: () => over.builtIn ?? null,
    bundled: async () => {
      if (over.bundled === undefined) throw new Error("Cannot find package")
      return over.bundled
    },
    warn: over.warn ?? (() => assert.fail("no warning is expected")),
  }
}
