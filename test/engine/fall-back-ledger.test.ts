import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import type { Scheduler } from "../../src/scheduler/scheduler.ts"
import type { LedgerEntry } from "../../src/scheduler/schedules/ledger.ts"
import type { Store } from "../../src/store/store.ts"
import { Fleet, taking } from "../support/fleet.ts"

// After an outage in which processes fired from memory, each occurrence has one record.

/** Reads of schedules fail after three seconds, as at a deadline, so some seconds pass before the fall-back begins. */
class Outage {
  readonly store: Store
  isWithoutSchedules = false
  isWithoutRuns = false

  constructor(fleet: Fleet) {
    const failing = async (): Promise<never> => {
      await taking(fleet.clock, "3s")
      throw new Error("simulated outage")
    }
    const { store } = fleet
    this.store = {
      ...store,
      dueSchedules: (request) => (this.isWithoutSchedules ? failing() : store.dueSchedules(request)),
      enqueue: (runs) => (this.isWithoutRuns ? failing() : store.enqueue(runs)),
    }
  }
}

async function everySecond(catchUp: "once" | "none" | "all") {
  const fleet = new Fleet()
  const outage = new Outage(fleet)
  const performed: number[] = []
  const task = defineTask({
    name: "task",
    run: ({ run }) => void performed.push(run.scheduledFor!.getTime()),
  })
  const options = { every: "1s", anchor: 0, catchUp, overlap: catchUp === "all" ? "allow" : "skip" } as const
  const node = await fleet.started({
    store: outage.store,
    tasks: [task],
    schedules: [task.schedule("s", options)],
  })
  return { fleet, outage, node, performed }
}

/** For each second from the oldest to the newest entry, the entries that stand for it. */
async function secondsOf(node: Scheduler): Promise<ReadonlyMap<number, readonly LedgerEntry[]>> {
  const { items: entries } = await node.schedules.occurrences("s", { limit: 1_000 })
  const first = entries.at(-1)!
  const seconds = new Map<number, readonly LedgerEntry[]>()
  const start = (first.from ?? first.scheduledFor).getTime()
  for (let at = start; at <= entries[0]!.scheduledFor.getTime(); at += 1_000) {
    const covering = entries.filter(
      ({ from, scheduledFor }) => (from ?? scheduledFor).getTime() <= at && at <= scheduledFor.getTime(),
    )
    seconds.set(at, covering)
  }
  return seconds
}

function assertOneEach(seconds: ReadonlyMap<number, readonly LedgerEntry[]>): void {
  const odd = [...seconds].filter(([, entries]) => entries.length !== 1)
  assert.deepEqual(
    odd.map(([at, entries]) => [new Date(at).toISOString(), entries.map(({ runId }) => runId)]),
    [],
  )
}

for (const catchUp of ["once", "none", "all"] as const) {
  describe(`with catch-up "${catchUp}"`, () => {
    test("each second of an outage has one record, whether it was fired in time, from memory, or not at all", async () => {
      const { fleet, outage, node, performed } = await everySecond(catchUp)
      await fleet.advance("3500ms")

      outage.isWithoutSchedules = true
      await fleet.advance("13s")
      outage.isWithoutSchedules = false
      await fleet.advance("6s")

      const seconds = await secondsOf(node)
      assertOneEach(seconds)
      assert.equal(new Set(performed).size, performed.length, "nothing is performed twice")
      const skipped = [...seconds].filter(([, [entry]]) => entry!.outcome === "skipped")
      assert.equal(skipped.length > 0, catchUp !== "all", `${skipped.length} seconds were skipped`)
      assert.equal(seconds.size - skipped.length, performed.length)
      await fleet[Symbol.asyncDispose]()
    })

    test("each second of an outage in which runs can't be written for some time has one record", async () => {
      const { fleet, outage, node } = await everySecond(catchUp)
      await fleet.advance("3500ms")

      outage.isWithoutSchedules = true
      await fleet.advance("13s")
      outage.isWithoutRuns = true
      await fleet.advance("25s")
      outage.isWithoutRuns = false
      outage.isWithoutSchedules = false
      await fleet.advance("6s")

      assertOneEach(await secondsOf(node))
      await fleet[Symbol.asyncDispose]()
    })
  })
}

test("with catch-up all every occurrence is performed, even if schedules become readable while firing from memory", async () => {
  const { fleet, outage, node, performed } = await everySecond("all")
  const { now } = outage.store
  const { dueSchedules } = fleet.store
  // Firing from memory is slow. After the outage the first reply contains no schedule but says that there are more. The second
  // reply is slow, and arrives after the firing from memory that began in the outage has ended.
  const answers: (typeof dueSchedules)[] = []
  outage.store.now = async () => {
    if (outage.isWithoutSchedules) await taking(fleet.clock, "3600ms")
    return now()
  }
  outage.store.dueSchedules = (request) => (answers.shift() ?? dueSchedules)(request)
  await fleet.advance("2500ms")

  outage.isWithoutSchedules = true
  const failing = () => Promise.reject(new Error("simulated outage"))
  answers.push(...Array(4).fill(failing))
  answers.push(async (request) => {
    const read = await dueSchedules(request)
    return { ...read, due: [], nextDueAt: read.now, nextDueCount: 1 }
  })
  answers.push(async (request) => {
    await taking(fleet.clock, "3s")
    return dueSchedules(request)
  })
  await fleet.advance("4s")
  outage.isWithoutSchedules = false
  await fleet.advance("10s")

  const seconds = await secondsOf(node)
  assertOneEach(seconds)
  assert.deepEqual(
    [...seconds.keys()].filter((at) => !performed.includes(at)),
    [],
  )
  await fleet[Symbol.asyncDispose]()
})

test.each([16, 17.2, 18.4, 19.6, 20.8, 22])(
  "after %d s without the store, the catch-up run stands for all occurrences since the last run",
  async (seconds) => {
    const { fleet, outage, node } = await everySecond("once")
    const { now } = outage.store
    outage.store.now = () => (outage.isWithoutRuns ? outage.store.enqueue([]).then(() => 0) : now())
    await fleet.advance("3500ms")

    outage.isWithoutSchedules = true
    outage.isWithoutRuns = true
    await fleet.advance(seconds * 1_000)
    outage.isWithoutRuns = false
    outage.isWithoutSchedules = false
    await fleet.advance("12s")

    const runs = (await node.runs.list({ schedule: "s", limit: 100 })).items.filter(
      ({ state }) => state !== "skipped",
    )
    const late = runs.filter(({ triggeredBy }) => triggeredBy === "catchup")
    assert.equal(late.length, 1)
    const { missed, scheduledFor } = late[0]!
    const before = runs.find((run) => run.scheduledFor! < missed!.from)
    assert.equal(
      missed!.from.getTime(),
      before!.scheduledFor!.getTime() + 1_000,
      "the missed range begins after the last run that was on time",
    )
    assert.equal(missed!.until.getTime(), scheduledFor!.getTime() - 1_000)
    await fleet[Symbol.asyncDispose]()
  },
)
