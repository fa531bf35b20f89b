import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { Fleet } from "../support/fleet.ts"
import { rejectsWith } from "../support/scratch.ts"

const task = defineTask({ name: "task", run: () => "done" })

async function allEntries(fleet: Fleet) {
  const { items } = await fleet.node().journal.list({ order: "oldest", limit: 100 })
  return items
}

test("the journal has every step of a schedule, with the author and the reason", async () => {
  await using fleet = new Fleet()
  const { schedules } = fleet.node()
  const why = { by: "ann", reason: "because" }
  const steps: readonly (() => Promise<unknown>)[] = [
    () => schedules.create("s", { task: "task", cron: "0 * * * *" }, why),
    () => schedules.update("s", { cron: "30 * * * *" }, { ifRevision: 1, ...why }),
    () => schedules.pause("s", why),
    () => schedules.resume("s", why),
    () => schedules.skip("s", undefined, why),
    () => schedules.restore("s", "2026-01-01T00:30:00Z", why),
    () => schedules.move("s", "2026-01-01T00:30:00Z", "2026-01-01T00:40:00Z", why),
    () => schedules.reschedule("s", "2026-01-01T00:20:00Z", why),
    () => schedules.trigger("s", { insteadOfNext: true, ...why }),
    () => schedules.delete("s", why),
  ]
  for (const step of steps) {
    await step()
    await fleet.advance("1s")
  }

  const entries = await allEntries(fleet)
  assert.deepEqual(
    entries.map(({ action }) => action),
    [
      ...["created", "updated", "paused", "resumed", "skipped", "restored", "moved", "rescheduled"],
      ...["triggered", "deleted"],
    ],
  )
  for (const { subject, subjectId, by, reason } of entries)
    assert.deepEqual([subject, subjectId, by, reason], ["schedule", "s", "ann", "because"])
  assert.deepEqual(
    (entries[1]!.after as { triggers: { cron: string }[] }).triggers.map(({ cron }) => cron),
    ["30 * * * *"],
  )
  assert.deepEqual(
    [
      (entries[2]!.before as { paused: unknown }).paused,
      (entries[2]!.after as { nextRunAt: unknown }).nextRunAt,
    ],
    [null, null],
  )
})

test("an unknown action is refused with the names of the actions", async () => {
  await using fleet = new Fleet()
  const wrong = ["pausd"] as unknown as ["paused"]

  assert.throws(() => fleet.node().journal.list({ actions: wrong }), {
    code: "BELFRY_SCHEDULER_INVALID",
    message: /actions\[0\] is "pausd"; use "created", .*"paused", .* or "restored"/,
  })
})

test("the journal has the schedules that a deploy creates, changes and deletes, but not a restart", async () => {
  await using fleet = new Fleet()
  const start = (cron: string | null, release: number) => {
    const schedules = cron === null ? [] : [task.schedule("s", { cron })]
    return fleet.started({ tasks: [task], schedules, owner: "billing", release })
  }
  for (const [cron, release] of [
    ["0 1 * * *", 1],
    ["0 1 * * *", 2],
    ["0 2 * * *", 3],
    [null, 4],
  ] as const) {
    await start(cron, release)
    await fleet.advance("1s")
  }

  const entries = await allEntries(fleet)
  assert.deepEqual(
    entries.map(({ action, by, reason }) => [action, by, reason]),
    [
      ["created", 'code of "billing"', "Release 1"],
      ["updated", 'code of "billing"', "Release 3"],
      ["deleted", 'code of "billing"', "Release 4"],
    ],
  )
})

test("fires and triggers leave no entry in the journal", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task], schedules: [task.schedule("s", { cron: "* * * * *" })] })
  await fleet.advance("3m")
  await node.schedules.trigger("s")
  await node.enqueue(task)
  await fleet.advance("1m")

  assert.deepEqual(
    (await allEntries(fleet)).map(({ action }) => action),
    ["created"],
  )
})

test("a refused step leaves no entry in the journal", async () => {
  await using fleet = new Fleet()
  const { schedules } = fleet.node()
  await schedules.create("s", { task: "task", cron: "0 * * * *" })
  await rejectsWith("BELFRY_SCHEDULE_EXISTS", schedules.create("s", { task: "task", cron: "0 * * * *" }))
  await rejectsWith("BELFRY_SCHEDULE_CHANGED", schedules.update("s", { enabled: false }, { ifRevision: 7 }))

  assert.equal((await allEntries(fleet)).length, 1)
})

describe("journal.list", () => {
  test("returns pages, and iterates over all of them", async () => {
    await using fleet = new Fleet()
    const { schedules, journal } = fleet.node()
    for (let index = 0; index < 5; index++) {
      await schedules.create(
        `s${index}`,
        { task: "task", cron: "0 * * * *" },
        { by: index % 2 ? "odd" : "even" },
      )
      await fleet.advance("1s")
    }
    const newest = ["s4", "s3", "s2", "s1", "s0"]

    const first = await journal.list({ limit: 2 })
    const second = await journal.list({ limit: 2, cursor: first.next! })
    const third = await journal.list({ limit: 2, cursor: second.next! })
    const all: string[] = []
    for await (const { subjectId } of journal.list({ limit: 2 })) all.push(subjectId)

    assert.deepEqual(
      [first, second, third].map(({ items }) => items.map(({ subjectId }) => subjectId)),
      [newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)],
    )
    assert.equal(third.next, null)
    assert.deepEqual(all, newest)
    const odd = await journal.list({ by: "odd" })
    assert.deepEqual(
      odd.items.map(({ subjectId }) => subjectId),
      ["s3", "s1"],
    )
    const since = await journal.list({
      since: new Date("2026-01-01T00:00:02Z"),
      until: "2026-01-01T00:00:04Z",
    })
    assert.deepEqual(
      since.items.map(({ subjectId }) => subjectId),
      ["s3", "s2"],
    )
  })

  test("refuses a cursor of another list", async () => {
    await using fleet = new Fleet()
    const { journal } = fleet.node()
    for (const cursor of ["x", "", "e30", Buffer.from('{"at":"1","id":2}').toString("base64url")])
      assert.throws(() => journal.list({ cursor }), /cursor is not the `next` of a page of this list/)
  })
})
