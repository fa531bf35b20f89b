import assert from "node:assert/strict"
import { aClaim, aRun, aSchedule, type NewRun, type NewSchedule, type Run, type Store } from "belfry/store"
import { test } from "vitest"
import { planFire } from "../../src/core/planning/fire.ts"
import { retry, succeed } from "../../src/core/run/run.ts"
import { plannedBy } from "../../src/engine/facts.ts"
import { runSummaryView, runView, scheduleView } from "../../src/scheduler/views.ts"
import { Workers } from "../../src/scheduler/workers.ts"
import { aHeartbeat, aPruning, aWorker, heldRun } from "../../src/store/laws/factories.ts"
import {
  aPage,
  countRuns,
  created,
  deleteSchedule,
  enqueued,
  pagedRuns,
  runById,
  scheduleById,
} from "../../src/store/laws/steps.ts"

/** A store, and a function that writes any value into a field of a record directly, without the store's checks. */
export interface Writable {
  readonly store: Store
  /** False: the database refuses the value. */
  write(
    kind: "schedule" | "run" | "worker",
    id: string,
    field: string,
    value: string | null,
  ): Promise<boolean>
}

/** Nested too deeply for `JSON.stringify`. */
const DEEP = `${"[".repeat(5_000)}${"]".repeat(5_000)}`

/** For columns of JSON: also pauses and overrides in the future whose reason isn't a text. */
export const DEEP_DAMAGES: readonly string[] = [
  DEEP,
  `{"at": 1, "until": null, "reason": ${DEEP}, "by": null}`,
  `[{"scheduledFor": 4102444800000, "dueAt": null, "reason": ${DEEP}, "by": null}]`,
  '{"at": 1, "until": null, "reason": [], "by": {}}',
  '[{"scheduledFor": 4102444800000, "dueAt": null, "reason": {}, "by": []}]',
]

/** The values that are written. Null removes the field. */
export const DAMAGES: readonly (string | null)[] = [
  ...["", "x", "null", "[]", "{}", "[null]", "7", "-1", "1e300", "9007199254740993", "-9007199254740993"],
  ...["nan", "inf", "2147483647", ...DEEP_DAMAGES],
  null,
]

/**
 * Law 12, Apart, for each field of a record and each damaged value: the other records work as if the damaged one weren't there.
 * All damaged values of a field are tested at once, each in a record of its own. If that fails, they are tested one at a time,
 * to name the value in the error.
 */
export function damagedFields(
  open: () => Promise<Writable>,
  fields: Readonly<Record<"schedule" | "run" | "worker", readonly string[]>>,
  damagesOf: (field: string) => readonly (string | null)[] = () => DAMAGES,
): void {
  const each = async (field: string, check: (damaging: Damaging) => Promise<void>) => {
    const checkWith = async (values: readonly (string | null)[]) => {
      const { store, write } = await open()
      const damage = async (kind: Parameters<Writable["write"]>[0], ids: readonly string[]) => {
        for (const [index, id] of ids.entries()) await write(kind, id, field, values[index]!)
      }
      await check({ store, count: values.length, damage })
    }
    const values = damagesOf(field)
    try {
      await checkWith(values)
    } catch (cause) {
      for (const value of values) {
        await checkWith([value]).catch((error) => {
          throw new Error(`${field} is ${JSON.stringify(value)}: ${error}`, { cause: error })
        })
      }
      throw new Error(`${field}, with all damages at once: ${cause}`, { cause })
    }
  }

  test.each(fields.schedule)(
    "with any value in %s of a schedule, other schedules fire and are listed",
    (field) =>
      each(field, async ({ store, count, damage }) => {
        const due = { nextRunAt: 1, coveredUntil: 0, tags: ["t"], owner: "o" }
        // Behind by every minute since 1970: a plan that computes each of them takes too long.
        const eachMinute = { kind: "cron", cron: "* * * * *", dayMatch: "either" } as const
        const eachHour = { kind: "every", everyMs: 3_600_000, anchor: null } as const
        // The first occurrence is skipped: to find the next one, the plan has to read the timetable.
        const skip = { scheduledFor: 60_000, dueAt: null, reason: null, by: null }
        const often = await createdAll(store, count, { ...due, triggers: [eachMinute], overrides: [skip] })
        const seldom = await createdAll(store, count, { ...due, triggers: [eachHour] })
        const bad = [...often, ...seldom]
        const good = await created(store, aSchedule(due))
        await damage("schedule", idsOf(often))
        await damage("schedule", idsOf(seldom))

        await schedulesAreShown(store, good.id)
        await firesOnce(store, good.id)
        await schedulesAreShown(store, good.id)
        for (const { id } of bad) await isDeleted(store, id)
      }),
  )

  test.each(fields.run)("with any value in %s of a pending run, other runs are given and listed", (field) =>
    each(field, async ({ store, count, damage }) => {
      const bad = await enqueuedAll(store, Array.from({ length: count }, richRun))
      const good = await enqueued(store, aRun())
      await damage("run", idsOf(bad))

      await runsAreShown(store, good.id)
      const given = await allGiven(store)
      assert.ok(idsOf(given).includes(good.id), "the other run is given")
      await areHeldAndEnded(store, given, good.id)
    }),
  )

  test.each(fields.run)(
    "with any value in %s of a running run, other runs keep their lease and end",
    (field) =>
      each(field, async ({ store, count, damage }) => {
        const bad = await enqueuedAll(store, Array.from({ length: count }, richRun))
        const good = await enqueued(store, aRun())
        const given = await allGiven(store)
        await damage("run", idsOf(bad))

        const late = await enqueued(store, aRun())
        await runsAreShown(store, good.id)
        assert.ok(idsOf(await allGiven(store)).includes(late.id), "a new run is given")
        await areHeldAndEnded(store, given, good.id)
      }),
  )

  test.each(fields.run)("with any value in %s of a silent worker's run, other runs are given", (field) =>
    each(field, async ({ store, count, damage }) => {
      const bad = await enqueuedAll(store, Array.from({ length: count }, richRun))
      await store.claim(aClaim({ limit: PAGE, tasks: [{ name: "report", leaseMs: -1 }] }))
      const good = await enqueued(store, aRun())
      await damage("run", idsOf(bad))

      assert.ok(idsOf(await allGiven(store)).includes(good.id), "the other run is given")
      await runsAreShown(store, good.id)
    }),
  )

  test.each(fields.run)("with any value in %s of a finished run, only other runs are given", (field) =>
    each(field, async ({ store, count, damage }) => {
      const bad = await enqueuedAll(store, Array.from({ length: count }, richRun))
      await store.transition((await allGiven(store)).map((run) => succeed(run, NOTHING)))
      // The next run with its live key, as of a schedule with overlap `skip`.
      const next = await enqueuedAll(
        store,
        bad.map((run) => aRun({ ...run, id: `${run.id}-next` })),
      )
      const good = await enqueued(store, aRun())
      await damage("run", idsOf(bad))

      const given = idsOf(await allGiven(store))

      assert.deepEqual([...given].sort(), [...idsOf(next), good.id].sort())
      await runsAreShown(store, good.id)
      if (field === "state") return
      for (const { id } of bad) assert.equal((await runById(store, id)).state, "succeeded")
    }),
  )

  test.each(fields.run)("with any value in %s of a finished run, other runs are listed and pruned", (field) =>
    each(field, async ({ store, count, damage }) => {
      const bad = await enqueuedAll(store, Array.from({ length: count }, richRun))
      const good = await enqueued(store, aRun())
      const given = await allGiven(store)
      await store.transition(given.map((run) => succeed(run, { message: null, details: { a: 1 } })))
      await damage("run", idsOf(bad))

      await runsAreShown(store, good.id)
      await store.transition(given.flatMap((run) => retry({ ...run, state: "succeeded" }, null) ?? []))
      await store.prune(aPruning({ olderThanMs: -1_000_000 }))
      await runsAreShown(store, null)
      assert.ok((await store.readRuns([good.id])).length <= 1)
    }),
  )

  test("a finished run without `completedAt` is listed and pruned", async () => {
    const { store, write } = await open()
    const bad = await enqueued(store, aRun({ scheduleId: "s1" }))
    await store.transition((await allGiven(store)).map((run) => succeed(run, NOTHING)))
    await write("run", bad.id, "completed_at", null)

    const kept = await store.prune(aPruning())
    const listed = await store.findRuns({}, aPage())
    const gone = await store.prune(aPruning({ olderThanMs: -1_000_000 }))

    assert.deepEqual(
      [kept.runs, listed.map(({ id }) => id), gone.runs, await store.findRuns({ ids: [bad.id] }, aPage())],
      [0, [bad.id], 1, []],
    )
  })

  test.each(fields.worker)(
    "with any value in %s of a worker, all workers are listed, and it can send heartbeats",
    (field) =>
      each(field, async ({ store, count, damage }) => {
        const beat = (id: string) => store.heartbeat(aHeartbeat({ worker: aWorker({ id, tasks: [id] }) }))
        const bad = Array.from({ length: count }, (_, index) => `bad-${index + 10}`)
        const all = [...bad, "good"]
        for (const id of all) await beat(id)
        await damage("worker", bad)

        assert.ok((await offeredOf(store, all)).has("good"), "the other worker's tasks are offered")
        await store.prune(aPruning({ silentForMs: 600_000 }))
        for (const id of bad) await beat(id)
        assert.deepEqual([...(await offeredOf(store, all))].sort(), all)
      }),
  )
}

interface Damaging {
  readonly store: Store
  /** How many records will be damaged. */
  readonly count: number
  /** Writes one damaged value into each record. */
  damage(kind: "schedule" | "run" | "worker", ids: readonly string[]): Promise<void>
}

async function createdAll(
  store: Store,
  count: number,
  about: Partial<NewSchedule>,
): Promise<readonly NewSchedule[]> {
  const schedules = Array.from({ length: count }, () => aSchedule(about))
  for (const schedule of schedules)
    assert.equal((await store.putSchedule(schedule, null)).outcome, "done", `${schedule.id} is new`)
  return schedules
}

async function enqueuedAll(store: Store, runs: readonly NewRun[]): Promise<readonly NewRun[]> {
  const expected = runs.map(({ id }) => ({ outcome: "created", runId: id }))
  assert.deepEqual(await store.enqueue(runs), expected)
  return runs
}

function idsOf(records: readonly { readonly id: string }[]): readonly string[] {
  return records.map(({ id }) => id)
}

/** The tasks that workers offer. Asserts that all workers are listed. */
async function offeredOf(store: Store, all: readonly string[]): Promise<ReadonlySet<string>> {
  const workers = new Workers(store)
  const listed = await workers.list({ afterId: null, limit: PAGE })
  // Throws if an instant is outside the range of dates.
  for (const { startedAt, heartbeatAt } of listed) startedAt.toISOString() + heartbeatAt.toISOString()
  assert.deepEqual(idsOf(listed), all)
  return workers.offeredTasks()
}

/** More than the number of records. */
const PAGE = 200

const NOTHING = { message: null, details: null }

let keys = 0

/** Every field has a value. */
function richRun(): NewRun {
  const key = `key-${keys++}`
  return aRun({
    payload: { a: 1 },
    priority: 3,
    trigger: "schedule:* * * * *",
    missed: { from: 0, until: 1000, count: 2 },
    liveKey: key,
    concurrencyKey: key,
    concurrencyLimit: 5,
    retry: { attempts: 2, backoff: "fixed", baseMs: 1, maxMs: 1, jitter: 0 },
    timeoutMs: 60_000,
    by: "somebody",
  })
}

async function schedulesAreShown(store: Store, goodId: string): Promise<void> {
  const listed = await store.findSchedules({}, { orderBy: "id", after: null, limit: PAGE })
  for (const schedule of listed) jsonOf(scheduleView(schedule, new Set(), 0))
  assert.ok(
    listed.some(({ id }) => id === goodId),
    "the other schedule is listed",
  )
}

async function firesOnce(store: Store, goodId: string): Promise<void> {
  const fired: string[] = []
  for (let round = 0; round < 3; round++) {
    const { due, now, nextDueAt } = await store.dueSchedules({ limit: PAGE })
    assert.ok(nextDueAt === null || Number.isSafeInteger(nextDueAt), `the next is due at ${nextDueAt}`)
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    // Another process that read the same schedules plans them again, with the runs recorded by now.
    for (const { schedule, facts } of due) {
      await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now))
    }
    fired.push(
      ...due.flatMap(({ schedule }, index) => (answers[index]!.outcome === "done" ? [schedule.id] : [])),
    )
  }
  assert.equal(fired.filter((id) => id === goodId).length, 1, "the other schedule fires once")
  assert.equal((await scheduleById(store, goodId)).lastError, null)
}

async function isDeleted(store: Store, id: string): Promise<void> {
  const [schedule] = await store.findSchedules({ ids: [id] }, { orderBy: "id", after: null, limit: 1 })
  if (schedule === undefined) return
  assert.equal((await deleteSchedule(store, schedule)).outcome, "done", `schedule ${id} is deleted`)
}

async function runsAreShown(store: Store, goodId: string | null): Promise<void> {
  for (const orderBy of ["createdAt", "scheduledFor", "completedAt", "id"] as const) {
    const listed = await store.findRuns({}, aPage({ orderBy }))
    for (const run of listed) jsonOf(runSummaryView(run))
    for (const run of await store.readRuns(idsOf(listed))) jsonOf(runView(run))
  }
  await countRuns(store)
  const paged = await pagedRuns(store, {}, { limit: 5 })
  if (goodId === null) return
  assert.ok(
    paged.some(({ id }) => id === goodId),
    "the other run is on a page",
  )
}

/** As the server and the command line write it. Throws if an instant is out of range. */
function jsonOf(view: object): string {
  return JSON.stringify(view)
}

async function allGiven(store: Store): Promise<readonly Run[]> {
  const given: Run[] = []
  for (let round = 0; round < 3; round++) {
    const { runs, nextClaimableAt } = await store.claim(aClaim({ limit: PAGE }))
    assert.ok(nextClaimableAt === null || Number.isFinite(nextClaimableAt), `the next at ${nextClaimableAt}`)
    given.push(...runs)
  }
  return given
}

async function areHeldAndEnded(store: Store, given: readonly Run[], goodId: string): Promise<void> {
  const { gone } = await store.heartbeat(aHeartbeat({ held: given.map((run) => heldRun(run)) }))
  assert.ok(!gone.some(({ runId }) => runId === goodId), "the other run keeps its lease")
  const answers = await store.transition(given.map((run) => succeed(run, { message: null, details: null })))
  const place = given.findIndex(({ id }) => id === goodId)
  assert.deepEqual(answers[place], { outcome: "done" })
  await runsAreShown(store, goodId)
}
