import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { createTestScheduler } from "../../src/testing.ts"
import { Fleet, taking } from "../support/fleet.ts"

const codesOf = (lints: readonly { code: string }[]) => lints.map(({ code }) => code)

test("a stored schedule is linted by its expression and its limits", async () => {
  const test = await createTestScheduler({ startAt: "2026-01-15T00:00:00Z" })
  const { schedules } = test.scheduler
  await schedules.create("odd", { task: "t", cron: "*/7 * * * *", timezone: "Europe/Berlin" })
  await schedules.create("ending", { task: "t", cron: "0 9 * * *", maxRuns: 3 })
  await schedules.create("plain", { task: "t", every: "1h" })

  assert.deepEqual(codesOf(await schedules.lints("odd")), ["L01"])
  assert.deepEqual(codesOf(await schedules.lints("ending")), ["L11"])
  assert.deepEqual(await schedules.lints("plain"), [])
  await assert.rejects(schedules.lints("gone"), { code: "BELFRY_SCHEDULE_NOT_FOUND" })
})

test("an explicit dst option suppresses the lints about clock changes", async () => {
  const test = await createTestScheduler({ startAt: "2026-01-15T00:00:00Z" })
  const { schedules } = test.scheduler
  const night = { task: "t", cron: "30 2 * * *", timezone: "Europe/Berlin" }
  await schedules.create("default", night)
  await schedules.create("explicit", { ...night, dst: { gap: "skip", overlap: "both" } })

  assert.deepEqual(codesOf(await schedules.lints("default")), ["L04", "L05"])
  assert.deepEqual(await schedules.lints("explicit"), [])
})

test("a lint reports that ten other schedules start in the same minute", async () => {
  const test = await createTestScheduler({ startAt: "2026-01-15T00:00:00Z" })
  const { schedules } = test.scheduler
  for (let index = 0; index < 11; index++)
    await schedules.create(`s${index}`, { task: "t", cron: `${index % 5} 0 12 * * *` })
  await schedules.create("alone", { task: "t", cron: "30 12 * * *" })

  const [lint] = await schedules.lints("s0")

  assert.deepEqual(
    [lint?.code, lint?.message],
    ["L06", "10 other schedules start in the same minute. Set a jitter to spread them."],
  )
  assert.deepEqual(await schedules.lints("alone"), [])
})

test("a lint reports that runs take longer than the interval, from the statistics", async () => {
  await using fleet = new Fleet("2026-01-15T00:00:00Z")
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "150s") })
  const { schedules } = await fleet.started({ tasks: [slow] })
  await schedules.create("s", { task: slow, cron: "* * * * *" })
  assert.deepEqual(await schedules.lints("s"), [])

  await fleet.advance("2h")

  const [lint] = await schedules.lints("s")
  assert.deepEqual(lint?.code, "L07")
  assert.match(lint!.message, /^One run in twenty takes longer than 1m 40s, but the next is due after 1m/)
})

test("listLints lists the active schedules that have lints, with the same lints as for each alone", async () => {
  await using fleet = new Fleet("2026-01-15T00:00:00Z")
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "150s") })
  const { schedules } = await fleet.started({ tasks: [slow] })
  await schedules.create("overrun", { task: slow, cron: "* * * * *" })
  await schedules.create("plain", { task: "t", cron: "30 12 * * *" })
  await schedules.create("odd", { task: "t", cron: "*/7 * * * *" })
  await schedules.create("asleep", { task: "t", cron: "*/7 * * * *", paused: true })
  for (let index = 0; index < 11; index++)
    await schedules.create(`noon-${index}`, { task: "t", cron: "0 12 * * *" })
  await fleet.advance("2h")

  const listed: [string, readonly string[]][] = []
  for await (const { id, lints } of schedules.listLints({ limit: 2 })) {
    listed.push([id, codesOf(lints)])
    assert.deepEqual(lints, await schedules.lints(id))
  }

  assert.deepEqual(listed.sort(), [
    ...Array.from({ length: 11 }, (_, index) => [`noon-${index}`, ["L06"]]).sort(),
    ["odd", ["L01"]],
    ["overrun", ["L07"]],
  ])
})

test("listLints reads a page of schedules at a time, and statistics once per task", async () => {
  await using fleet = new Fleet("2026-01-15T00:00:00Z")
  const calls: string[] = []
  const counting = new Proxy(fleet.store, {
    get(target, name) {
      calls.push(String(name))
      return Reflect.get(target, name)
    },
  }) as Store
  const { schedules } = fleet.node({ store: counting })
  const all = Array.from({ length: 1_200 }, (_, index) => ({
    ...{ id: `s${index}`, task: `t${index % 3}`, cron: `${index % 60} ${index % 24} * * *` },
  }))
  await schedules.apply(all)
  calls.length = 0

  for await (const { id } of schedules.listLints({ limit: 500 })) assert.ok(id)

  const count = (operation: string) => calls.filter((name) => name === operation).length
  assert.deepEqual([count("findSchedules"), count("summarise")], [7, 3])
})
