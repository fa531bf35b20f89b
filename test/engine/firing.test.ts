import assert from "node:assert/strict"
import type { ClaimedWork } from "belfry"
import type { Store } from "belfry/store"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"
import { slowStore } from "../support/slow-store.ts"

const noop = defineTask({ name: "noop", run: () => undefined })

describe("one process", () => {
  test("an occurrence starts at its instant, not at the next poll", async () => {
    await using fleet = new Fleet("2026-01-01T00:00:17.250Z")
    const startedAt: string[] = []
    const note = defineTask({ name: "note", run: () => void startedAt.push(fleet.now()) })
    await fleet.started({
      tasks: [note],
      schedules: [note.schedule("seven", { cron: "*/7 * * * * *" })],
    })

    await fleet.advance("30s")

    assert.deepEqual(
      startedAt.map((at) => at.slice(17)),
      ["21.000Z", "28.000Z", "35.000Z", "42.000Z"],
    )
  })

  test("an idle hour costs a few store calls a minute, not one a second", async () => {
    await using fleet = new Fleet()
    const { store, calls } = faultyStore(fleet.store)
    await fleet.started({ store, tasks: [noop] })
    calls.length = 0

    await fleet.advance("1h")

    // Each of the three loops reads once per poll interval of a minute, and pruning runs every ten minutes.
    assert.ok(calls.length >= 3 * 59 && calls.length <= 3 * 61 + 6, `${calls.length} calls`)
  })

  test("a day with one distant schedule costs one read per poll", async () => {
    await using fleet = new Fleet()
    const { store, calls, count } = faultyStore(fleet.store)
    await fleet.started({
      store,
      tasks: [noop],
      schedules: [noop.schedule("yearly", { cron: "0 0 1 7 *" })],
      pollInterval: "10m",
    })
    calls.length = 0

    await fleet.advance("1d")

    assert.ok(count("dueSchedules") <= 145, `${count("dueSchedules")} reads of due schedules`)
    assert.ok(calls.length <= 5 * 145, `${calls.length} calls`)
    assert.equal(count("fire"), 0)
  })

  test("a schedule whose records can't be read doesn't keep other schedules from firing", async () => {
    await using fleet = new Fleet()
    const { schedules, runs } = fleet.node()
    await schedules.create("behind", { task: "noop", cron: "0 * * * *" })
    await fleet.advance("3h30m")
    await schedules.create("in-time", { task: "noop", cron: "* * * * *" })
    let [isReadable, reads] = [false, 0]
    const store = withLookUps(fleet.store, (read) => {
      reads++
      return isReadable ? read() : Promise.reject(new Error("too much to read"))
    })
    await fleet.started({ store, tasks: [noop] })

    await fleet.advance("3m")

    assert.deepEqual((await runs.list({ schedule: "behind" })).items, [])
    assert.equal((await runs.list({ schedule: "in-time" })).items.length, 3)
    assert.ok(reads <= 7, `the look-up is repeated, but not all the time: ${reads} reads`)
    isReadable = true
    await fleet.advance("1m")
    assert.equal((await runs.list({ schedule: "behind" })).items.length, 2)
  })

  test("an outage that begins while due schedules are planned is a fault of the store and puts no schedule on hold", async () => {
    await using fleet = new Fleet()
    const { logger, lines } = collectedLog()
    const wire = faultyStore(fleet.store)
    const { schedules, runs } = fleet.node()
    for (let index = 0; index < 20; index++)
      await schedules.create(`behind-${index}`, { task: "noop", cron: "0 * * * *" })
    await fleet.advance("3h30m")
    const { findRuns } = withLookUps(wire.store, (read) => {
      if (wire.count("findRuns") === 0) wire.breakDown()
      return read()
    })
    const dueSchedules: typeof fleet.store.dueSchedules = (request) => wire.store.dueSchedules(request)
    const now = () => wire.store.now()
    await fleet.started({
      store: { ...fleet.store, findRuns, dueSchedules, now },
      tasks: [noop],
      logger,
    })

    await fleet.advance("1m")

    assert.equal(wire.count("findRuns"), 1, "the other schedules don't try as well")
    assert.ok(lines.some(({ message }) => message === "The store can't be read; trying again"))
    assert.ok(!lines.some(({ message }) => message.startsWith("The schedule's recorded occurrences")))
    wire.mend()
    await fleet.advance("6s")
    assert.equal((await runs.list({ state: "succeeded" })).items.length, 20)
    assert.ok(lines.some(({ message }) => message === "The store answers again"))
  })

  test("look-ups that fail slowly count as a fault of the store after five seconds", async () => {
    await using fleet = new Fleet()
    const { logger, lines } = collectedLog()
    const { schedules, runs } = fleet.node()
    for (let index = 0; index < 20; index++)
      await schedules.create(`behind-${index}`, { task: "noop", cron: "0 * * * *" })
    await fleet.advance("3h30m")
    await schedules.create("in-time", { task: "noop", cron: "31 * * * *" })
    const store = withLookUps(fleet.store, async () => {
      await taking(fleet.clock, "3s")
      throw new Error("too slow")
    })
    await fleet.started({ store, tasks: [noop], logger })

    await fleet.advance("90s")

    const onHold = lines.filter(({ message }) => message.startsWith("The schedule's recorded occurrences"))
    assert.ok(lines.some(({ message }) => message === "The store can't be read; trying again"))
    assert.ok(onHold.length >= 4, `${onHold.length} on hold`)
    assert.equal((await runs.list({ schedule: "in-time" })).items[0]?.state, "succeeded")
  })

  test("a full batch of schedules whose records can't be read neither blocks others nor keeps the loop busy", async () => {
    await using fleet = new Fleet()
    const { schedules, runs } = fleet.node()
    for (let index = 0; index < 510; index++)
      await schedules.create(`behind-${index}`, { task: "noop", cron: "0 * * * *" })
    await fleet.advance("3h30m")
    await schedules.create("in-time", { task: "noop", cron: "* * * * *" })
    const failing = withLookUps(fleet.store, () => Promise.reject(new Error("too much to read")))
    const { store, count } = faultyStore(failing)
    await fleet.started({ store, tasks: [noop] })

    await fleet.advance("3m")

    assert.equal((await runs.list({ schedule: "in-time" })).items.length, 3)
    assert.ok(count("dueSchedules") < 50, `${count("dueSchedules")} reads`)
  })

  test("a plan whose live key another run holds is made again, and isn't reported as a race", async () => {
    await using fleet = new Fleet()
    const { logger, lines } = collectedLog()
    const races: string[] = []
    const claims: ClaimedWork[] = []
    let held = 1
    const fire: typeof fleet.store.fire = async (plans) =>
      held-- > 0 ? plans.map(() => ({ outcome: "held" })) : fleet.store.fire(plans)
    await fleet.started({
      store: { ...fleet.store, fire },
      tasks: [noop],
      schedules: [noop.schedule("s", { cron: "0 * * * *" })],
      logger,
      hooks: {
        race: (id) => void races.push(id),
        claimed: (claim) => void (claim.what === "schedules" && claims.push(claim)),
      },
    })

    await fleet.advance("1h")

    assert.deepEqual(races, [])
    assert.deepEqual(
      claims.map(({ count, lostRaces }) => [count, lostRaces]),
      [
        [0, 0],
        [1, 0],
      ],
    )
    const messages = lines.filter(({ level }) => level === "debug").map(({ message }) => message)
    assert.deepEqual(messages.slice(0, 1), ["Another run holds the key of this schedule; planning again"])
    assert.equal((await fleet.runs())[0]?.state, "succeeded")
  })

  test("a new schedule is fired without waiting for the next poll", async () => {
    await using fleet = new Fleet()
    const node = await fleet.started({ tasks: [noop], pollInterval: "1h" })
    await fleet.advance("10s")

    await node.schedules.create("soon", { task: noop, in: "5s" })
    await fleet.advance("5s")

    assert.equal((await node.runs.get("soon@2026-01-01T00:00:15Z"))?.state, "succeeded")
  })

  test("without hints, a schedule created by another process is found at the next poll", async () => {
    await using fleet = new Fleet()
    const withoutHints = { ...fleet.store, listen: async () => async () => undefined }
    await fleet.started({ store: withoutHints, tasks: [noop], pollInterval: "1m" })

    await fleet.node().schedules.create("soon", { task: "noop", in: "5s" })
    await fleet.advance("1m")

    const [run] = await fleet.runs()
    assert.equal(run?.state, "succeeded")
    assert.equal(run?.startedAt?.toISOString(), "2026-01-01T00:01:00.000Z")
  })

  test("a scheduler starts even if the store can't give hints", async () => {
    await using fleet = new Fleet()
    const { store, breakDown } = faultyStore(fleet.store)
    breakDown("listen")
    await fleet.started({ store, tasks: [noop], schedules: [noop.schedule("s", { every: "10s" })] })

    await fleet.advance("30s")

    assert.equal((await fleet.runs()).length, 3)
  })

  test("more schedules of one instant than fit a batch are all fired at that instant", async () => {
    await using fleet = new Fleet()
    const node = await fleet.started({ tasks: [noop], concurrency: 600 })
    // Overlap replace isn't fired ahead: the runs to cancel are known only at the instant.
    for (let index = 0; index < 600; index++)
      await node.schedules.create(`s${index}`, { task: noop, cron: "0 * * * *", overlap: "replace" })

    await fleet.advance("1h")

    const runs = await fleet.runs()
    assert.equal(runs.length, 600)
    assert.ok(runs.every((run) => run.createdAt.toISOString() === "2026-01-01T01:00:00.000Z"))
    assert.ok(runs.every((run) => run.state === "succeeded"))
  })
})

describe("several processes", () => {
  for (const count of [2, 5]) {
    test(`${count} schedulers on one store fire and perform each occurrence once`, async () => {
      await using fleet = new Fleet()
      const performed: string[] = []
      const note = defineTask({ name: "note", run: ({ run }) => void performed.push(run.id) })
      const schedules = [
        note.schedule("minutely", { cron: "* * * * *" }),
        note.schedule("interval", { every: "45s" }),
      ]
      const store = slowStore(fleet.store, fleet.clock)
      for (let index = 0; index < count; index++) await fleet.started({ store, tasks: [note], schedules })

      await fleet.advance("1h")

      assert.equal(performed.length, 60 + 80)
      assert.equal(new Set(performed).size, performed.length)
      assert.equal((await fleet.runs()).length, performed.length)
    })
  }

  test("the hook `claimed` reports the duration, the claimed number and the number lost to other processes", async () => {
    await using fleet = new Fleet()
    const claims: ClaimedWork[] = []
    const hooks = { claimed: (claim: ClaimedWork) => void claims.push(claim) }
    const schedules = [noop.schedule("minutely", { cron: "* * * * *" })]
    const store = slowStore(fleet.store, fleet.clock)
    for (let index = 0; index < 3; index++) await fleet.started({ store, tasks: [noop], schedules, hooks })

    await fleet.advance("10m")

    const sum = (what: string, of: "count" | "lostRaces") =>
      claims.filter((claim) => claim.what === what).reduce((total, claim) => total + claim[of], 0)
    assert.deepEqual([sum("schedules", "count"), sum("runs", "count")], [10, 10])
    assert.ok(sum("schedules", "lostRaces") > 0)
    // Some calls of this store take no time, but not all.
    assert.ok(claims.some(({ tookMs }) => tookMs > 0))
  })

  test("a lost race for a schedule is reported as an event and logged only at level debug", async () => {
    await using fleet = new Fleet()
    const events: string[] = []
    const hooks = {
      run: (event: { type: string }) => void events.push(event.type),
      race: (scheduleId: string) => void events.push(`raced for ${scheduleId}`),
    }
    const schedules = [noop.schedule("minutely", { cron: "* * * * *" })]
    const store = slowStore(fleet.store, fleet.clock)
    const { logger, lines } = collectedLog()
    for (let index = 0; index < 3; index++)
      await fleet.started({ store, tasks: [noop], schedules, hooks, logger })

    await fleet.advance("10m")

    assert.equal(events.filter((type) => type === "created").length, 10)
    assert.ok(events.includes("raced for minutely"))
    assert.ok(
      lines.some(({ level, message }) => level === "debug" && message === "Another process was first"),
    )
    assert.ok(lines.every(({ level }) => level === "debug" || level === "info"))
  })

  test("when a firing process stops, the other processes fire without a gap", async () => {
    await using fleet = new Fleet()
    const schedules = [noop.schedule("minutely", { cron: "* * * * *" })]
    const first = await fleet.started({ tasks: [noop], schedules })
    await fleet.started({ tasks: [noop], schedules })
    await fleet.advance("5m")

    await fleet.until(first.stop())
    await fleet.advance("5m")

    const runs = await fleet.runs()
    assert.equal(runs.length, 10)
    assert.ok(runs.every((run) => run.startedAt?.getTime() === run.scheduledFor?.getTime()))
  })
})

/** The store with `look` in place of the reads that look up recorded occurrences. */
function withLookUps(
  store: Store,
  look: (read: () => ReturnType<Store["findRuns"]>) => ReturnType<Store["findRuns"]>,
): Store {
  return {
    ...store,
    findRuns: (filter, page) => {
      const read = () => store.findRuns(filter, page)
      return page.orderBy === "scheduledFor" ? look(read) : read()
    },
  }
}
