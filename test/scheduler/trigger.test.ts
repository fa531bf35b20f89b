import assert from "node:assert/strict"
import { describe, test } from "vitest"
import * as z from "zod"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"
import { Fleet } from "../support/fleet.ts"
import { racingStore } from "../support/racing-store.ts"

const task = defineTask({ name: "send", payload: z.any(), run: () => "done" })

async function fixture() {
  const test = await createTestScheduler({ tasks: [task], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, runs } = test.scheduler
  return { test, schedules, runs }
}

describe("trigger now", () => {
  test("creates a run and doesn't affect the next occurrence", async () => {
    const { test, schedules, runs } = await fixture()
    const created = await schedules.create("s", { task: "send", cron: "0 * * * *", payload: { a: 1 } })

    const { outcome, runId } = await schedules.trigger("s", { by: "ada", reason: "asked", priority: "high" })
    await test.advance("1s")

    const run = await runs.get(runId)
    assert.equal(outcome, "created")
    assert.deepEqual([run?.triggeredBy, run?.by, run?.reason], ["manual", "ada", "asked"])
    assert.deepEqual([run?.payload, run?.priority, run?.scheduledFor], [{ a: 1 }, 10, null])
    assert.deepEqual((await schedules.get("s"))?.nextRunAt, created.nextRunAt)
  })

  test("may have another payload, and skip the next occurrence", async () => {
    const { test, schedules, runs } = await fixture()
    await schedules.create("s", { task: "send", cron: "0 * * * *", payload: { a: 1 } })

    const { runId } = await schedules.trigger("s", { payload: { a: 2 }, insteadOfNext: true })
    await test.advance("2h")

    assert.deepEqual((await runs.get(runId))?.payload, { a: 2 })
    assert.equal((await runs.get("s@2026-03-10T09:00:00Z"))?.state, "skipped")
    assert.equal((await runs.get("s@2026-03-10T10:00:00Z"))?.state, "succeeded")
  })

  test("of a schedule that changes all the time fails, and the error says how often it was tried", async () => {
    await using fleet = new Fleet()
    await fleet.node().schedules.create("s", { task, cron: "0 * * * *" })
    let tries = 0
    const fire = async () => {
      tries += 1
      return [{ outcome: "stale" as const }]
    }
    const losing = fleet.node({ tasks: [task], store: { ...fleet.store, fire } })

    await assert.rejects(losing.schedules.trigger("s", { insteadOfNext: true }), {
      code: "BELFRY_SCHEDULE_CHANGED",
      message: 'Schedule "s" changed 200 times while it was being triggered.',
    })
    assert.equal(tries, 200)
  })

  test("with insteadOfNext, if the next occurrence fires in the meantime, the one after it is skipped, and one manual run is created", async () => {
    await using fleet = new Fleet("2026-03-10T08:59:59Z")
    const node = await fleet.started({ tasks: [task] })
    await node.schedules.create("s", { task, cron: "0 * * * *", overlap: "allow" })
    const racing = fleet.node({
      tasks: [task],
      store: racingStore(fleet.store, "fire", () => fleet.advance("1s")),
    })

    const { outcome, runId } = await racing.schedules.trigger("s", { insteadOfNext: true })
    await fleet.advance("2h")

    assert.equal(outcome, "created")
    assert.deepEqual((await fleet.runs()).map(({ id, state }) => [id, state]).sort(), [
      [runId, "succeeded"],
      ["s@2026-03-10T09:00:00Z", "succeeded"],
      ["s@2026-03-10T10:00:00Z", "skipped"],
      ["s@2026-03-10T11:00:00Z", "succeeded"],
    ])
  })

  test("with insteadOfNext, if the last occurrence fires in the meantime, trigger is refused and creates no run", async () => {
    await using fleet = new Fleet("2026-03-10T08:59:59Z")
    const node = await fleet.started({ tasks: [task] })
    await node.schedules.create("s", { task, at: "2026-03-10T09:00:00Z" })
    const store = racingStore(fleet.store, "fire", () => fleet.advance("1s"))

    await assert.rejects(fleet.node({ store }).schedules.trigger("s", { insteadOfNext: true }), {
      code: "BELFRY_OCCURRENCE_INVALID",
    })
    assert.deepEqual(
      (await fleet.runs()).map(({ id }) => id),
      ["s@2026-03-10T09:00:00Z"],
    )
  })

  test("with insteadOfNext, trigger is skipped while a run is unfinished, and the next occurrence is kept", async () => {
    const { schedules } = await fixture()
    const { nextRunAt } = await schedules.create("s", { task: "nobody-defines-it", cron: "0 * * * *" })
    const first = await schedules.trigger("s")
    await schedules.trigger("s", { overlap: "allow" })

    const second = await schedules.trigger("s", { insteadOfNext: true })

    assert.deepEqual(second, { outcome: "skipped", runId: first.runId })
    assert.deepEqual((await schedules.get("s"))?.nextRunAt, nextRunAt)
  })

  test("with insteadOfNext, two triggers skip the next two occurrences", async () => {
    const { test, schedules } = await fixture()
    await schedules.create("s", { task: "send", cron: "0 * * * *", overlap: "allow" })

    await schedules.trigger("s", { insteadOfNext: true })
    await schedules.trigger("s", { insteadOfNext: true })
    await test.advance("3h")

    const { items: entries } = await schedules.occurrences("s")
    assert.deepEqual(entries.map(({ outcome }) => outcome).toReversed(), ["skipped", "skipped", "succeeded"])
  })

  test("with insteadOfNext, trigger is refused if no occurrence is left to skip", async () => {
    const { schedules } = await fixture()
    await schedules.create("s", { task: "send", at: "2026-03-10T09:00:00Z" })
    await schedules.skip("s")

    await assert.rejects(schedules.trigger("s", { insteadOfNext: true }), {
      code: "BELFRY_OCCURRENCE_INVALID",
      message: 'Schedule "s" has no occurrence to come.',
    })
  })

  test("with insteadOfNext, the run counts as a run, not as a fired occurrence", async () => {
    const { schedules, runs } = await fixture()
    await schedules.create("s", { task: "send", cron: "0 * * * *", maxRuns: 2 })

    const { runId } = await schedules.trigger("s", { insteadOfNext: true, by: "ada", reason: "asked" })

    const { runCount, firedCount, lastRunId, overrides } = (await schedules.get("s"))!
    assert.deepEqual([runCount, firedCount, lastRunId], [1, 0, runId])
    assert.deepEqual(
      overrides.map(({ reason, by }) => [reason, by]),
      [["asked", "ada"]],
    )
    const run = await runs.get(runId)
    assert.deepEqual([run?.triggeredBy, run?.trigger, run?.by], ["manual", "manual", "ada"])
  })

  test("is skipped while a run is unfinished, if the overlap policy is skip", async () => {
    const { schedules } = await fixture()
    await schedules.create("s", { task: "nobody-defines-it", cron: "0 * * * *" })

    const first = await schedules.trigger("s")
    const second = await schedules.trigger("s")

    assert.deepEqual(second, { outcome: "skipped", runId: first.runId })
  })

  test("with asOf in the past, the run has that scheduledFor and is in the ledger", async () => {
    const { test, schedules, runs } = await fixture()
    await schedules.create("s", { task: "send", cron: "0 * * * *" })

    const { runId } = await schedules.trigger("s", { asOf: "2026-03-09T12:34:00Z" })
    await test.advance("1s")

    const run = await runs.get(runId)
    const { items: entries } = await schedules.occurrences("s")
    assert.equal(run?.scheduledFor?.toISOString(), "2026-03-09T12:34:00.000Z")
    assert.deepEqual(
      entries.map((entry) => [entry.runId, entry.triggeredBy]),
      [[runId, "manual"]],
    )
    await assert.rejects(schedules.trigger("s", { asOf: "2026-03-10T08:30:02Z" }), {
      code: "BELFRY_RUN_INVALID",
    })
  })

  test.each([
    ["allow", ["pending", "pending"]],
    ["queue", ["pending", "pending"]],
    ["replace", ["cancelled", "pending"]],
  ] as const)(
    "with overlap %s, trigger creates a run although the schedule's policy is skip",
    async (overlap, states) => {
      const { schedules, runs } = await fixture()
      await schedules.create("s", { task: "nobody-defines-it", cron: "0 * * * *" })
      const first = await schedules.trigger("s")

      const second = await schedules.trigger("s", { overlap, by: "ada" })

      const found = [await runs.get(first.runId), await runs.get(second.runId)]
      assert.equal(second.outcome, "created")
      assert.deepEqual(
        found.map((run) => run?.state),
        states,
      )
    },
  )

  test("refuses a priority and a payload that can't be stored", async () => {
    const { schedules } = await fixture()
    await schedules.create("s", { task: "send", cron: "0 * * * *" })

    await assert.rejects(schedules.trigger("s", { priority: 1.5 }), { code: "BELFRY_RUN_INVALID" })
    await assert.rejects(schedules.trigger("s", { payload: 10n }), { code: "BELFRY_PAYLOAD_INVALID" })
  })
})

describe("trigger follows the schedule's overlap policy", () => {
  async function triggered(overlap: "skip" | "queue" | "replace" | "allow", times: number) {
    const { schedules, runs } = await fixture()
    // No worker performs the task, so its runs stay unfinished.
    await schedules.create("s", { task: "elsewhere", cron: "0 * * * *", overlap })
    const answers = []
    for (let time = 0; time < times; time++) answers.push(await schedules.trigger("s"))
    return { answers, states: (await runs.list()).items.map(({ state }) => state).reverse() }
  }

  test.each([
    ["skip", ["created", "skipped", "skipped"], ["pending"]],
    ["queue", ["created", "created", "skipped"], ["pending", "pending"]],
    ["replace", ["created", "created", "created"], ["cancelled", "cancelled", "pending"]],
    ["allow", ["created", "created", "created"], ["pending", "pending", "pending"]],
  ] as const)("%s", async (overlap, outcomes, states) => {
    const done = await triggered(overlap, 3)

    assert.deepEqual(
      done.answers.map(({ outcome }) => outcome),
      outcomes,
    )
    assert.deepEqual(done.states, states)
  })

  test.each([
    ["queue", 2, ["pending", "pending"]],
    ["replace", 10, ["pending"]],
  ] as const)("%s, also for ten triggers at the same time", async (overlap, created, unfinished) => {
    const { schedules, runs } = await fixture()
    await schedules.create("s", { task: "elsewhere", cron: "0 * * * *", overlap })

    const answers = await Promise.all(Array.from({ length: 10 }, () => schedules.trigger("s")))

    assert.equal(answers.filter(({ outcome }) => outcome === "created").length, created)
    assert.deepEqual(
      (await runs.list({ state: ["pending", "running"] })).items.map(({ state }) => state),
      unfinished,
    )
  })

  test("queue: if the queue is full, the result has the id of the oldest run", async () => {
    const { answers } = await triggered("queue", 3)

    assert.equal(answers[2]!.runId, answers[0]!.runId)
  })
})
