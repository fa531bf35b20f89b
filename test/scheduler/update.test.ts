import assert from "node:assert/strict"
import { test } from "vitest"
import * as z from "zod"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

const task = defineTask({ name: "send", payload: z.any(), run: () => "done" })

async function fixture(options: object = { cron: "0 * * * *" }) {
  const test = await createTestScheduler({ tasks: [task], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, runs } = test.scheduler
  // Some of the schedules depend on this one.
  await schedules.create("other", { task: "t", cron: "0 0 1 1 *" })
  const created = await schedules.create("s", { task: "send", ...options })
  const update = (changes: Parameters<typeof schedules.update>[1], ifRevision = 1) =>
    schedules.update("s", changes, { ifRevision })
  return { test, schedules, runs, created, update }
}

test("an update changes the given options and keeps the others", async () => {
  const { update, created } = await fixture({
    cron: "0 * * * *",
    payload: { a: 1 },
    tags: ["x"],
    priority: 3,
  })

  const updated = await update({ description: "hourly mail", payload: { a: 2 } })

  assert.deepEqual(
    { ...updated, revision: 1, description: "", payload: { a: 1 }, updatedAt: created.updatedAt },
    created,
  )
  assert.deepEqual([updated.revision, updated.description, updated.payload], [2, "hourly mail", { a: 2 }])
})

test("the next occurrence moves only if the timetable changes", async () => {
  const { test, update } = await fixture({ every: "1h" })
  await test.advance("10m")

  const renamed = await update({ description: "words only", priority: "high" })
  const moved = await update({ cron: "15 * * * *" }, 2)

  assert.equal(renamed.nextRunAt?.toISOString(), "2026-03-10T09:30:00.000Z")
  assert.equal(moved.nextRunAt?.toISOString(), "2026-03-10T09:15:00.000Z")
  assert.equal(moved.when, "15 * * * *")
})

test("an update based on an old revision is refused; a fire doesn't change the revision", async () => {
  const { test, update } = await fixture()
  await update({ description: "first" })
  await test.advance("2h")

  await assert.rejects(update({ description: "second" }, 1), {
    code: "BELFRY_SCHEDULE_CHANGED",
    message: 'Schedule "s" is at revision 2; the change was based on revision 1.',
    status: 412,
    details: { id: "s", revision: 2, ifRevision: 1 },
  })
  assert.equal((await update({ description: "second" }, 2)).revision, 3)
})

test("an update that changes nothing keeps the revision", async () => {
  const { update, created } = await fixture({ cron: "0 * * * *", timezone: "Europe/Paris", catchUp: "none" })

  assert.deepEqual(await update({ timezone: "Europe/Paris" }), created)
})

test("null removes an option", async () => {
  const { update } = await fixture({
    cron: "0 * * * *",
    timezone: "Europe/Paris",
    jitter: "5m",
    startsAt: "2026-03-01T00:00:00Z",
    endsAt: "2027-01-01T00:00:00Z",
    maxRuns: 5,
    maxConcurrentRuns: 2,
    overlap: { policy: "queue", limit: 3 },
    catchUp: { policy: "all", limit: 5 },
    retry: { attempts: 7 },
    timeout: "1m",
    tags: ["x"],
    description: "words",
    payload: { a: 1 },
    dependsOn: [{ schedule: "other", within: "1h" }],
  })

  const plain = await update({
    timezone: null,
    jitter: null,
    startsAt: null,
    endsAt: null,
    maxRuns: null,
    maxConcurrentRuns: null,
    overlap: null,
    catchUp: null,
    retry: null,
    timeout: null,
    tags: null,
    description: null,
    payload: null,
    dependsOn: null,
  })

  const { created: ordinary } = await fixture({ cron: "0 * * * *" })
  assert.deepEqual({ ...plain, revision: 1 }, ordinary)
})

test("an update of one option keeps every other option", async () => {
  const options = {
    triggers: [
      { cron: "0 9 * * 1-5", dayMatch: "both" },
      { every: "6h", anchor: "2026-01-01T00:00:00Z" },
      { at: "2026-05-01T12:00:00Z" },
    ],
    timezone: "Europe/Paris",
    dst: { gap: "skip", overlap: "both" },
    priority: -3,
    jitter: "5m",
    spacing: "10m",
    startsAt: "2026-03-01T00:00:00Z",
    endsAt: "2027-01-01T00:00:00Z",
    maxRuns: 50,
    removeWhenFinished: true,
    catchUp: { policy: "all", grace: "2m", window: "3h", limit: 7 },
    overlap: { policy: "queue", limit: 4 },
    maxConcurrentRuns: 2,
    dependsOn: [{ schedule: "other", within: "1h" }],
    retry: { attempts: 4, backoff: "linear", delay: "3s", maxDelay: "9s", jitter: 0.5 },
    timeout: "90s",
    tags: ["a", "b"],
  }
  const { update, created } = await fixture(options)

  const updated = await update({ description: "only this" })

  assert.deepEqual({ ...updated, revision: 1, description: "", updatedAt: created.updatedAt }, created)
})

test.each(["cron", "dayMatch", "anchor", "triggers"])("%s can't be removed alone", async (option) => {
  const { update } = await fixture({ cron: "0 9 1 * 1", dayMatch: "both" })

  await assert.rejects(
    update({ [option]: null }),
    new RegExp(`^BelfryError: ${option} can't be removed alone`),
  )

  await update({ [option]: null, every: "6h" })
})

test.each([
  [{ cron: "0 9 1 * 1" }, { dayMatch: "both" }, /dayMatch needs cron, which is missing: give both/],
  [{ every: "6h" }, { anchor: "2026-01-01T00:00:00Z" }, /anchor needs every, which is missing: give both/],
] as const)(
  "for a schedule with %j, the update %j alone is refused, and the error names the missing option",
  async (options, change, message) => {
    const { update } = await fixture(options)

    await assert.rejects(update(change), message)

    await update({ ...options, ...change })
  },
)

test("a new trigger replaces all existing triggers", async () => {
  const { update } = await fixture({ triggers: [{ cron: "0 9 * * *" }, { every: "6h" }] })

  assert.equal((await update({ every: "2h" })).when, "@every 2h")
  assert.equal(
    (await update({ triggers: [{ cron: "@daily" }, { cron: "@weekly" }] }, 2)).when,
    "@daily, @weekly",
  )
})

test("a refused update doesn't change the schedule", async () => {
  const { update, schedules, created } = await fixture()

  await assert.rejects(update({ cron: "61 * * * *" }), { code: "BELFRY_CRON_FIELD_RANGE" })
  await assert.rejects(update({ cron: "0 * * * *", every: "1h" }), { code: "BELFRY_SCHEDULE_INVALID" })
  await assert.rejects(update({ timezone: "Nowhere" }), { code: "BELFRY_TIMEZONE_UNKNOWN" })

  assert.deepEqual(await schedules.get("s"), created)
})

test("an update between the nominal and the jittered time loses no run", async () => {
  const { test, schedules, runs, update } = await fixture({ cron: "0 * * * *", jitter: "20m" })
  const [next] = await schedules.preview("s", 1)
  assert.ok(next!.dueAt.getTime() > next!.scheduledFor.getTime() + 1_000, "the jitter delays the occurrence")
  await test.advanceTo(next!.scheduledFor.getTime() + 1_000)

  const updated = await update({ cron: "30 * * * *", jitter: null })
  assert.equal(updated.nextRunAt?.toISOString(), "2026-03-10T09:30:00.000Z")
  await test.advance("2h")

  const ids = (await runs.list({ state: "succeeded" })).items.map(({ id, startedAt }) => [
    id,
    startedAt?.toISOString(),
  ])
  assert.deepEqual(ids.at(-1), ["s@2026-03-10T09:00:00Z", next!.dueAt.toISOString()])
  assert.deepEqual(ids[0]?.[0], "s@2026-03-10T10:30:00Z")
  assert.equal(ids.length, 3)
})

test("an update while occurrences are owed fires them first, by the old definition", async () => {
  const first = await createTestScheduler({ tasks: [], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, runs } = first.scheduler
  await schedules.create("s", { task: "send", cron: "0 * * * *", payload: "old" })
  await first.advance("2h")

  await schedules.update("s", { payload: "new", cron: "45 * * * *" }, { ifRevision: 1 })

  const owed = await runs.get("s@2026-03-10T10:00:00Z")
  assert.deepEqual([owed?.state, owed?.payload, owed?.missed?.count], ["pending", "old", 1])
  assert.equal((await schedules.get("s"))?.nextRunAt?.toISOString(), "2026-03-10T10:45:00.000Z")
})

test("an update that keeps the timetable keeps the occurrences that don't fit in the queue owed", async () => {
  const first = await createTestScheduler({ tasks: [], startAt: "2026-03-10T08:30:00Z" })
  const { schedules } = first.scheduler
  const overlap = { policy: "queue", limit: 1 } as const
  await schedules.create("s", { task: "send", cron: "0 * * * *", catchUp: "all", overlap, payload: "old" })
  await first.advance("5h")

  const updated = await schedules.update("s", { payload: "new" }, { ifRevision: 1 })

  assert.deepEqual(
    (await first.runs()).map(({ id, state, payload }) => [id, state, payload]),
    [
      ["s@2026-03-10T09:00:00Z", "pending", "old"],
      ["s@2026-03-10T10:00:00Z", "pending", "old"],
    ],
  )
  assert.deepEqual([updated.revision, updated.payload], [2, "new"])
})

test("a schedule that is disabled and enabled continues from now", async () => {
  const { test, update, runs } = await fixture()

  assert.equal((await update({ enabled: false })).nextRunAt, null)
  await test.advance("5h")
  const enabled = await update({ enabled: true }, 2)
  await test.advance("1h")

  assert.equal(enabled.nextRunAt?.toISOString(), "2026-03-10T14:00:00.000Z")
  assert.deepEqual(
    (await runs.list()).items.map(({ id }) => id),
    ["s@2026-03-10T14:00:00Z"],
  )
})
