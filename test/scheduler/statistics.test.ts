import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

const report = defineTask({ name: "report", run: () => "done" })
const broken = defineTask({
  name: "broken",
  retry: { attempts: 2, delay: "1s", jitter: 0 },
  run() {
    throw new Error("no")
  },
})

test("statistics cover all runs, a task or a schedule", async () => {
  await using fleet = new Fleet()
  const schedules = [report.schedule("s", { cron: "* * * * *" })]
  const node = await fleet.started({ tasks: [report, broken], schedules })
  await node.enqueue(broken)
  await fleet.advance("10m")

  const all = await node.statistics()
  const ofTask = await node.statistics({ task: broken })
  const ofSchedule = await node.statistics({ schedule: "s" })
  const none = await node.statistics({ schedule: "nobody" })

  // The counters of the last minute are not written yet.
  assert.ok(all.total.succeeded >= 8, `${all.total.succeeded} succeeded`)
  assert.deepEqual([ofTask.total.failed, ofTask.total.retried, ofTask.total.succeeded], [1, 1, 0])
  assert.deepEqual([all.total.failed, all.span], [1, "hour"])
  assert.ok(ofSchedule.total.succeeded >= 8 && ofSchedule.total.created >= 8)
  assert.equal(ofSchedule.total.failed, 0)
  assert.ok(ofSchedule.total.duration.p95Ms! <= 5 && ofSchedule.total.lateness.p99Ms! <= 5)
  assert.deepEqual([none.total.succeeded, none.total.duration.p50Ms, none.buckets], [0, null, []])
})

test("buckets are minutes, hours or days, and have their start time", async () => {
  await using fleet = new Fleet()
  const schedules = [report.schedule("s", { cron: "*/20 * * * *" })]
  const node = await fleet.started({ tasks: [report], schedules })
  await fleet.advance("2h")

  const hours = await node.statistics({ span: "hour" })
  const minutes = await node.statistics({ since: "2026-01-01T00:00:00Z", until: "2026-01-01T01:00:00Z" })

  assert.deepEqual(
    hours.buckets.map(({ at, succeeded }) => [at.toISOString(), succeeded]),
    [
      ["2026-01-01T00:00:00.000Z", 2],
      ["2026-01-01T01:00:00.000Z", 3],
    ],
  )
  assert.equal(minutes.span, "minute")
  assert.deepEqual(
    minutes.buckets.map(({ at }) => at.toISOString().slice(11, 16)),
    ["00:20", "00:40", "01:00"],
  )
})

test("a process that stops writes its counters", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [report] })
  await node.enqueue(report)
  await fleet.advance("1s")
  await fleet.until(node.stop())

  assert.equal((await fleet.node().statistics()).total.succeeded, 1)
})

test("counters collected while the store is unavailable are written later, once, and for their minutes", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const node = await fleet.started({ tasks: [report], store: wire.store })
  for (let minutes = 0; minutes < 5; minutes++) {
    if (minutes === 1) wire.breakDown("heartbeat")
    await node.enqueue(report)
    await fleet.advance("1m")
  }
  wire.mend()
  await fleet.advance("3m")

  const { total, buckets } = await fleet.node().statistics({ span: "minute" })
  assert.equal(total.succeeded, 5)
  assert.ok(buckets.length >= 4, `in ${buckets.length} minutes`)
})

test("a heartbeat whose reply is lost doesn't count twice", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const node = await fleet.started({ tasks: [report], store: wire.store })
  await node.enqueue(report)
  await fleet.advance("1s")
  wire.loseReplies("heartbeat")
  await fleet.advance("1m")
  wire.mend()
  await node.enqueue(report)
  await fleet.advance("2m")

  assert.equal((await fleet.node().statistics()).total.succeeded, 2)
})
