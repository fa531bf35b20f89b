import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type LastSuccess, type RunInfo } from "../../src/index.ts"
import { Fleet } from "../support/fleet.ts"

test("the context of a task has its occurrence, its attempt and the run id, which is the same for each attempt", async () => {
  await using fleet = new Fleet()
  const infos: RunInfo[] = []
  const task = defineTask({
    name: "task",
    retry: { attempts: 2, delay: "1s", jitter: 0 },
    run({ run }) {
      infos.push(run)
      throw new Error("again")
    },
  })
  const schedules = [task.schedule("hourly", { cron: "0 * * * *" })]
  await fleet.started({ tasks: [task], schedules })

  await fleet.advance("61m")

  const common = {
    id: "hourly@2026-01-01T01:00:00Z",
    task: "task",
    scheduleId: "hourly",
    scheduledFor: new Date("2026-01-01T01:00:00Z"),
    triggeredBy: "schedule",
    standsFor: 1,
    missed: null,
  }
  assert.deepEqual(infos, [
    { ...common, attempt: 1, isLastAttempt: false },
    { ...common, attempt: 2, isLastAttempt: true },
  ])
})

test("an enqueued run has no occurrence", async () => {
  await using fleet = new Fleet()
  const infos: RunInfo[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void infos.push(run) })
  const node = await fleet.started({ tasks: [task] })

  await node.enqueue(task, { id: "mine" })
  await fleet.advance(1)

  assert.deepEqual(
    infos.map(({ id, scheduledFor, scheduleId, triggeredBy }) => [id, scheduledFor, scheduleId, triggeredBy]),
    [["mine", null, null, "api"]],
  )
})

test("after an outage one run stands for all missed occurrences, and its context has their range and count", async () => {
  await using fleet = new Fleet()
  const infos: RunInfo[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void infos.push(run) })
  await fleet.node().schedules.create("hourly", { task: "task", cron: "0 * * * *" })

  await fleet.advance("5h30m")
  await fleet.started({ tasks: [task] })
  await fleet.advance("1h")

  assert.deepEqual(
    infos.map(({ id, triggeredBy, standsFor, missed }) => ({ id, triggeredBy, standsFor, missed })),
    [
      {
        id: "hourly@2026-01-01T05:00:00Z",
        triggeredBy: "catchup",
        standsFor: 5,
        missed: {
          from: new Date("2026-01-01T01:00:00Z"),
          until: new Date("2026-01-01T04:00:00Z"),
          count: 4,
        },
      },
      { id: "hourly@2026-01-01T06:00:00Z", triggeredBy: "schedule", standsFor: 1, missed: null },
    ],
  )
})

test("lastSuccess returns the last success of the schedule with its result", async () => {
  await using fleet = new Fleet()
  const seen: (LastSuccess | null)[] = []
  const task = defineTask({
    name: "task",
    retry: { attempts: 1 },
    async run({ run, lastSuccess }) {
      seen.push(await lastSuccess())
      if (run.scheduledFor?.getUTCHours() === 2) throw new Error("bad hour")
      return { success: true, message: "copied", details: { until: run.scheduledFor } }
    },
  })
  const schedules = [task.schedule("hourly", { cron: "0 * * * *" })]
  await fleet.started({ tasks: [task], schedules })

  await fleet.advance("3h")

  const first = {
    runId: "hourly@2026-01-01T01:00:00Z",
    scheduledFor: new Date("2026-01-01T01:00:00Z"),
    completedAt: new Date("2026-01-01T01:00:00Z"),
    message: "copied",
    details: { until: "2026-01-01T01:00:00.000Z" },
  }
  assert.deepEqual(seen, [null, first, first])
})

test("a run without a schedule has no last success", async () => {
  await using fleet = new Fleet()
  const seen: unknown[] = []
  const task = defineTask({
    name: "task",
    run: async ({ lastSuccess }) => void seen.push(await lastSuccess()),
  })
  const node = await fleet.started({ tasks: [task] })

  await node.enqueue(task)
  await fleet.advance(1)
  await node.enqueue(task)
  await fleet.advance(1)

  assert.deepEqual(seen, [null, null])
})

test("a run has a description of the trigger that made it", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  const node = await fleet.started({ tasks: [task] })
  await node.schedules.create("cron", { task, cron: "0 1 * * *" })
  await node.schedules.create("every", { task, every: "1h" })
  await node.schedules.create("once", { task, in: "1h" })

  await fleet.advance("1h")
  const { runId } = await node.schedules.trigger("cron")

  const trigger = async (id: string) => (await node.runs.get(id))?.trigger
  assert.equal(await trigger("cron@2026-01-01T01:00:00Z"), "schedule:0 1 * * *")
  assert.equal(await trigger("every@2026-01-01T01:00:00Z"), "schedule:@every 1h")
  assert.equal(await trigger("once@2026-01-01T01:00:00Z"), "schedule:@at 2026-01-01T01:00:00Z")
  assert.equal(await trigger(runId), "manual")
})
