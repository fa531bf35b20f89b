import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

const picky = defineTask({
  name: "picky",
  run: () => "done",
  examine() {
    throw new Error("there is no such function")
  },
})
const hourly = { task: "t", cron: "0 * * * *" } as const

async function fixture() {
  const test = await createTestScheduler({ tasks: [picky], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, journal } = test.scheduler
  const ids = async () => (await schedules.list()).items.map(({ id }) => id)
  return { test, schedules, journal, ids }
}

test("apply creates, changes and prunes schedules, and reports each step", async () => {
  const { schedules, journal, ids } = await fixture()
  await schedules.create("same", { ...hourly, tags: ["shop"] })
  await schedules.create("changed", { ...hourly, tags: ["shop"], description: "old" })
  await schedules.create("stray", { ...hourly, tags: ["shop"] })
  await schedules.create("foreign", hourly)
  const progress: string[] = []

  const report = await schedules.apply(
    [
      { id: "new", ...hourly, dependsOn: [{ schedule: "first", within: "1h" }], tags: ["shop"] },
      { id: "first", ...hourly, tags: ["shop"] },
      { id: "same", ...hourly, tags: ["shop"] },
      { id: "changed", task: "other", cron: "0 * * * *", tags: ["shop"] },
    ],
    {
      prune: { tag: "shop" },
      by: "ann",
      onProgress: (done, total) => void progress.push(`${done}/${total}`),
    },
  )

  assert.equal(report.isDryRun, false)
  assert.deepEqual(
    report.steps.map(({ id, action, changes }) => [id, action, changes]),
    [
      ["first", "create", []],
      ["new", "create", []],
      ["same", "same", []],
      [
        "changed",
        "change",
        [
          { option: "task", from: "t", to: "other" },
          { option: "description", from: "old", to: null },
        ],
      ],
      ["stray", "delete", []],
    ],
  )
  assert.deepEqual(await ids(), ["changed", "first", "foreign", "new", "same"])
  assert.deepEqual(progress, ["1/5", "2/5", "3/5", "4/5", "5/5"])
  assert.equal((await journal.list({ by: "ann" })).items.length, 4)
})

test("if one step would be refused, apply changes nothing and reports each refused step", async () => {
  const { schedules, ids } = await fixture()

  const { steps, isDryRun } = await schedules.apply([
    { id: "a", ...hourly },
    { id: "b", task: "picky", every: "5m" },
    { id: "c", task: "t", cron: "0 25 * * *" },
  ])

  assert.equal(isDryRun, false)
  assert.deepEqual(
    steps.map(({ id, refused, isNotTried }) => [id, refused?.code ?? null, isNotTried]),
    [
      ["a", null, true],
      ["b", "BELFRY_PAYLOAD_INVALID", false],
      ["c", "BELFRY_CRON_FIELD_RANGE", false],
    ],
  )
  assert.deepEqual(await ids(), [])
})

test("a dry run of apply reports the same steps and changes nothing", async () => {
  const { schedules, ids } = await fixture()

  const { steps, isDryRun } = await schedules.apply([{ id: "a", ...hourly }], { dryRun: true })

  assert.deepEqual([steps[0]!.action, isDryRun], ["create", true])
  assert.deepEqual(await ids(), [])
})

test("apply doesn't change a schedule declared in code", async () => {
  const task = defineTask({ name: "t", run: () => "done" })
  const test = await createTestScheduler({
    tasks: [task],
    schedules: [task.schedule("declared", { cron: "0 * * * *", tags: ["shop"] })],
  })
  const { schedules } = test.scheduler

  const { steps } = await schedules.apply([{ id: "declared", task, cron: "5 * * * *" }])
  const pruned = await schedules.apply([], { prune: { tag: "shop" } })

  assert.deepEqual([steps[0]!.action, steps[0]!.owner], ["owned", "code"])
  assert.deepEqual(pruned.steps, [])
  assert.equal((await schedules.get("declared"))?.when, "0 * * * *")
})

test("apply refuses a dependency cycle, a duplicate id and a misspelt option before any step", async () => {
  const { schedules, ids } = await fixture()
  const on = (schedule: string) => ({ ...hourly, dependsOn: [{ schedule, within: "1h" as const }] })

  await assert.rejects(
    schedules.apply([
      { id: "a", ...on("b") },
      { id: "b", ...on("a") },
    ]),
    /a → b → a/,
  )
  await assert.rejects(
    schedules.apply([
      { id: "a", ...hourly },
      { id: "a", ...hourly },
    ]),
    /is listed twice/,
  )
  await assert.rejects(schedules.apply([{ id: "a", ...hourly, evry: 1 } as never]), /evry is not an option/)
  await assert.rejects(schedules.apply("a" as never), /schedules is "a"/)
  assert.deepEqual(await ids(), [])
})

test("apply refuses a prune that would delete a dependency of an applied schedule", async () => {
  const { schedules, ids } = await fixture()
  await schedules.create("base", { ...hourly, tags: ["y"] })
  const before = await ids()

  const applying = schedules.apply(
    [{ id: "next", ...hourly, dependsOn: [{ schedule: "base", within: "1d" }] }],
    {
      prune: { tag: "y" },
    },
  )

  await assert.rejects(applying, /"next" depends on "base", which prune would delete/)
  assert.deepEqual(await ids(), before)
})
