import assert from "node:assert/strict"
import { BelfryError, defineTask } from "belfry"
import { test } from "vitest"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { collectedLog } from "../support/collected-log.ts"
import { Fleet } from "../support/fleet.ts"

async function storeWithItsOwnClock(cron = "*/10 * * * *") {
  const fleet = new Fleet("2026-01-01T00:00:00Z")
  const skew = { ms: 0 }
  const store = createMemoryStore({ now: () => fleet.clock.now() + skew.ms })
  const performed: string[] = []
  const errors: Error[] = []
  const note = defineTask({ name: "note", run: ({ run }) => void performed.push(run.id) })
  const { logger, lines } = collectedLog()
  const node = await fleet.started({
    store,
    logger,
    tasks: [note],
    schedules: [note.schedule("s", { cron })],
    hooks: { error: (error) => errors.push(error as Error) },
  })
  return { fleet, store, note, skew, node, performed, errors, lines }
}

const codesOf = (errors: readonly unknown[]) =>
  errors.map((error) => error instanceof BelfryError && error.code)

test("a store's clock that is set back after it was hours ahead is reported once, and nothing runs twice", async () => {
  const { fleet, skew, performed, errors, lines } = await storeWithItsOwnClock()
  skew.ms = 2 * 3_600_000
  await fleet.advance("15m")
  assert.equal(errors.length, 0)

  skew.ms = 0
  await fleet.advance("15m")

  assert.deepEqual(codesOf(errors), ["BELFRY_STORE_CLOCK"])
  assert.match(errors[0]!.message, /clock went back by 2h, to 2026-01-01T00:1\d.*belfry doctor/)
  assert.equal(lines.filter(({ code }) => code === "BELFRY_STORE_CLOCK").length, 1)
  await fleet.advance("2h")
  assert.equal(new Set(performed).size, performed.length)
  assert.equal(performed.at(-1), "s@2026-01-01T02:30:00Z")
  await fleet[Symbol.asyncDispose]()
})

test("schedules fire within seconds after a clock that went back is correct again", async () => {
  const { fleet, skew, performed } = await storeWithItsOwnClock("* * * * * *")
  await fleet.advance("10s")
  skew.ms = -60_000
  await fleet.advance("5s")
  const before = performed.length

  skew.ms = 0
  await fleet.advance("6s")

  assert.ok(performed.length > before, "something was performed")
  assert.equal(new Set(performed).size, performed.length)
  await fleet[Symbol.asyncDispose]()
})

test("a process that starts after the store's clock was set back reports that too", async () => {
  const { fleet, store, note, skew, node } = await storeWithItsOwnClock()
  skew.ms = 2 * 3_600_000
  await fleet.advance("15m")
  await fleet.until(node.stop())
  skew.ms = 0
  const errors: Error[] = []

  await fleet.started({ store, tasks: [note], hooks: { error: (error) => errors.push(error as Error) } })
  await fleet.advance("1m")

  assert.deepEqual(codesOf(errors), ["BELFRY_STORE_CLOCK"])
  assert.match(
    errors[0]!.message,
    /Schedule "s" last fired at 2026-01-01T02:10.*the store's clock says 2026-01-01T00:1/,
  )
  await fleet[Symbol.asyncDispose]()
})

test("a store's clock that never goes back causes no report", async () => {
  const { fleet, errors } = await storeWithItsOwnClock()

  await fleet.advance("6h")

  assert.deepEqual(errors, [])
  await fleet[Symbol.asyncDispose]()
})
