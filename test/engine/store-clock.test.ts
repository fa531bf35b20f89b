import assert from "node:assert/strict"
import { BelfryError, defineTask } from "belfry"
import { test } from "vitest"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { collectedLog } from "../support/collected-log.ts"
import { Fleet } from "../support/fleet.ts"

async function aStoreWithAClockOfItsOwn(cron = "*/10 * * * *") {
  const fleet = new Fleet("2026-01-01T00:00:00Z")
  const skew = { ms: 0 }
  const store = createMemoryStore({ now: () => fleet.clock.now() + skew.ms })
  const performed: string[] = []
  const told: Error[] = []
  const note = defineTask({ name: "note", run: ({ run }) => void performed.push(run.id) })
  const { logger, lines } = collectedLog()
  const node = await fleet.started({
    store,
    logger,
    tasks: [note],
    schedules: [note.schedule("s", { cron })],
    hooks: { error: (error) => told.push(error as Error) },
  })
  return { fleet, store, note, skew, node, performed, told, lines }
}

const codesOf = (told: readonly unknown[]) => told.map((error) => error instanceof BelfryError && error.code)

test("a store's clock that is set right again after it was hours ahead is told, once; nothing runs twice", async () => {
  const { fleet, skew, performed, told, lines } = await aStoreWithAClockOfItsOwn()
  skew.ms = 2 * 3_600_000
  await fleet.advance("15m")
  assert.equal(told.length, 0)

  skew.ms = 0
  await fleet.advance("15m")

  assert.deepEqual(codesOf(told), ["BELFRY_STORE_CLOCK"])
  assert.match(told[0]!.message, /clock went back by 2h, to 2026-01-01T00:1\d.*belfry doctor/)
  assert.equal(lines.filter(({ code }) => code === "BELFRY_STORE_CLOCK").length, 1)
  await fleet.advance("2h")
  assert.equal(new Set(performed).size, performed.length)
  assert.equal(performed.at(-1), "s@2026-01-01T02:30:00Z")
  await fleet[Symbol.asyncDispose]()
})

test("once a clock that went back is right again, schedules fire within seconds", async () => {
  const { fleet, skew, performed } = await aStoreWithAClockOfItsOwn("* * * * * *")
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

test("a process that starts after the clock was set back says so, too", async () => {
  const { fleet, store, note, skew, node } = await aStoreWithAClockOfItsOwn()
  skew.ms = 2 * 3_600_000
  await fleet.advance("15m")
  await fleet.until(node.stop())
  skew.ms = 0
  const told: Error[] = []

  await fleet.started({ store, tasks: [note], hooks: { error: (error) => told.push(error as Error) } })
  await fleet.advance("1m")

  assert.deepEqual(codesOf(told), ["BELFRY_STORE_CLOCK"])
  assert.match(
    told[0]!.message,
    /Schedule "s" last fired at 2026-01-01T02:10.*the store's clock says 2026-01-01T00:1/,
  )
  await fleet[Symbol.asyncDispose]()
})

test("a store's clock that goes on is not spoken of", async () => {
  const { fleet, told } = await aStoreWithAClockOfItsOwn()

  await fleet.advance("6h")

  assert.deepEqual(told, [])
  await fleet[Symbol.asyncDispose]()
})
