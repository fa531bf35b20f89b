import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type SchedulerOptions } from "../../src/index.ts"
import { Fleet } from "../support/fleet.ts"
import { racingStore } from "../support/racing-store.ts"

/** Two releases of one owner reconcile at the same time. Both have read the store, and one of them writes first. */

const task = defineTask({ name: "send", run: () => "done" })
const at = (minute: number) => task.schedule("nightly", { cron: `${minute} * * * *` })
const other = task.schedule("other", { cron: "0 12 * * *" })

const NOTHING = { created: [], updated: [], unchanged: [], pruned: [], refused: [] }
const NEWER = 'release 2 of "billing" is already stored; this is release 1'

function app(fleet: Fleet, release: number, options: Partial<SchedulerOptions>) {
  return fleet.node({ tasks: [task], owner: "billing", release, ...options })
}

async function stored(fleet: Fleet, id = "nightly") {
  const schedule = await fleet.node().schedules.get(id)
  return schedule === null ? null : [schedule.when, schedule.release]
}

test.each([
  ["updated", "findRuns"],
  ["updated after the older release has read it again", "putSchedule"],
] as const)(
  "a schedule that a newer release has just %s is not changed, and the older release reports it as refused",
  async (_, operation) => {
    await using fleet = new Fleet()
    await app(fleet, 0, { schedules: [at(0)] }).reconcile()
    const newer = () => app(fleet, 2, { schedules: [at(2)] }).reconcile()
    const store = racingStore(fleet.store, operation, newer)

    const report = await app(fleet, 1, { store, schedules: [at(1)] }).reconcile()

    assert.deepEqual(report, { ...NOTHING, refused: [{ id: "nightly", why: NEWER }] })
    assert.deepEqual(await stored(fleet), ["2 * * * *", 2])
  },
)

test("a schedule whose release number a newer release has just raised is not changed by an older one", async () => {
  await using fleet = new Fleet()
  await app(fleet, 0, { schedules: [at(0)] }).reconcile()
  const newer = () => app(fleet, 2, { schedules: [at(0)] }).reconcile()
  const store = racingStore(fleet.store, "putSchedule", newer)

  const report = await app(fleet, 1, { store, schedules: [at(1)] }).reconcile()

  assert.deepEqual(report, { ...NOTHING, refused: [{ id: "nightly", why: NEWER }] })
  assert.deepEqual(await stored(fleet), ["0 * * * *", 2])
})

test("a schedule that a newer release has just created is not changed, and is not reported as created", async () => {
  await using fleet = new Fleet()
  const newer = () => app(fleet, 2, { schedules: [at(2)] }).reconcile()
  const store = racingStore(fleet.store, "putSchedule", newer)

  const report = await app(fleet, 1, { store, schedules: [at(1)] }).reconcile()

  assert.deepEqual(report, { ...NOTHING, refused: [{ id: "nightly", why: NEWER }] })
  assert.deepEqual(await stored(fleet), ["2 * * * *", 2])
})

test.each([
  ["has just created", []],
  ["has just updated, although it was equal to that of the newer one,", [at(2)]],
  ["has just updated, while the newer one updates it, too,", [at(0)]],
] as const)("a schedule that an older release %s gets the definition of the newer one", async (_, before) => {
  await using fleet = new Fleet()
  await app(fleet, 0, { schedules: before }).reconcile()
  const older = () => app(fleet, 1, { schedules: [at(1)] }).reconcile()
  const store = racingStore(fleet.store, "putSchedule", older)

  const report = await app(fleet, 2, { store, schedules: [at(2)] }).reconcile()

  assert.deepEqual(report, { ...NOTHING, updated: [{ id: "nightly", fields: ["triggers"] }] })
  assert.deepEqual(await stored(fleet), ["2 * * * *", 2])
})

test("a schedule that an older release has just pruned is created again if the newer one declares it", async () => {
  await using fleet = new Fleet()
  await app(fleet, 0, { schedules: [at(0), other] }).reconcile()
  const older = () => app(fleet, 1, { schedules: [other] }).reconcile()
  const store = racingStore(fleet.store, "putSchedule", older)

  const report = await app(fleet, 2, { store, schedules: [at(0), other] }).reconcile()

  assert.deepEqual(report, { ...NOTHING, created: ["nightly"], unchanged: ["other"] })
  assert.deepEqual(await stored(fleet), ["0 * * * *", 2])
})

test.each([
  ["found unchanged", [at(0)]],
  ["updated", [at(2)]],
] as const)(
  "a schedule that a newer release has just %s isn't pruned by an older one",
  async (_, declared) => {
    await using fleet = new Fleet()
    await app(fleet, 0, { schedules: [at(0)] }).reconcile()
    const newer = () => app(fleet, 2, { schedules: declared }).reconcile()
    const store = racingStore(fleet.store, "fire", newer)

    const report = await app(fleet, 1, { store, schedules: [] }).reconcile()

    assert.deepEqual(report, NOTHING)
    assert.equal((await stored(fleet))?.[1], 2)
  },
)

test("a schedule that an older release has just updated is pruned by the newer one", async () => {
  await using fleet = new Fleet()
  await app(fleet, 0, { schedules: [at(0)] }).reconcile()
  const older = () => app(fleet, 1, { schedules: [at(1)] }).reconcile()
  const store = racingStore(fleet.store, "fire", older)

  const report = await app(fleet, 2, { store, schedules: [] }).reconcile()

  assert.deepEqual(report, { ...NOTHING, pruned: ["nightly"] })
  assert.equal(await stored(fleet), null)
})

test("a schedule that was deleted and created by hand in the meantime isn't pruned", async () => {
  await using fleet = new Fleet()
  await app(fleet, 1, { schedules: [at(0)] }).reconcile()
  const { schedules } = fleet.node()
  const store = racingStore(fleet.store, "fire", async () => {
    await schedules.delete("nightly")
    await schedules.create("nightly", { task, cron: "5 * * * *" })
  })

  const report = await app(fleet, 2, { store, schedules: [] }).reconcile()

  assert.deepEqual(report, NOTHING)
  assert.deepEqual(await stored(fleet), ["5 * * * *", 0])
})

test("of two processes of the same release that start at once, one creates the schedule and the other reports it as unchanged", async () => {
  await using fleet = new Fleet()
  const twin = () => app(fleet, 1, { schedules: [at(0)] }).reconcile()
  const store = racingStore(fleet.store, "putSchedule", twin)

  const report = await app(fleet, 1, { store, schedules: [at(0)] }).reconcile()

  assert.deepEqual(report, { ...NOTHING, unchanged: ["nightly"] })
})

test.each([
  ["updated", { schedules: [at(1)] }],
  ["pruned", { schedules: [] }],
] as const)(
  "reconcile gives up after 20 tries on a schedule that keeps changing while it is %s",
  async (_, options) => {
    await using fleet = new Fleet()
    await app(fleet, 0, { schedules: [at(0)] }).reconcile()
    // A store where every compare-and-swap of a schedule is stale.
    const store = new Proxy(fleet.store, {
      get: (target, name) =>
        name === "putSchedule"
          ? async () => ({ outcome: "stale" })
          : name === "fire"
            ? async (plans: readonly unknown[]) => plans.map(() => ({ outcome: "stale" }))
            : Reflect.get(target, name),
    })

    await assert.rejects(app(fleet, 1, { store, ...options }).reconcile(), {
      code: "BELFRY_SCHEDULE_CHANGED",
      message: /Schedule "nightly" changed 200 times/,
    })
  },
)
