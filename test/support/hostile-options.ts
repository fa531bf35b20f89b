import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import type { Store } from "belfry/store"
import { ENQUEUE_OPTIONS } from "../../src/scheduler/runs/enqueue.ts"
import { LOG_PAGE, RUN_QUERY } from "../../src/scheduler/runs/run-options.ts"
import { RECONCILE_OPTIONS, WORKERS_PAGE } from "../../src/scheduler/scheduler-options.ts"
import { LEDGER_PAGE } from "../../src/scheduler/schedules/ledger.ts"
import { SCHEDULE_CHANGES } from "../../src/scheduler/schedules/schedule-options.ts"
import {
  BACKFILL_OPTIONS,
  CHANGE_REASON,
  CREATE_OPTIONS,
  PAUSE_OPTIONS,
  PLAN_BACKFILL_OPTIONS,
  PREVIEW_OPTIONS,
  SCHEDULE_QUERY,
  UPDATE_BASE,
} from "../../src/scheduler/schedules/steering-options.ts"
import { TRIGGER_NOW_OPTIONS } from "../../src/scheduler/schedules/trigger.ts"

/** Unusual and wrong values for every option of every function. Each is refused with the option's name, or kept unchanged. */

const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

export const HOSTILE: readonly unknown[] = [
  ...[
    "",
    " ",
    "no",
    "null",
    "\0",
    "\ud800",
    "a\u0000b",
    "x".repeat(10_000),
    "ä".repeat(300),
    "😀".repeat(60),
  ],
  ...["__proto__", "constructor", "$1", "'; drop table runs; --", "{}", "*", "1e300", "PT1S", "0 0 30 2 *"],
  ...[0, -0, -1, 1, 1.5, 60, 3e9, 2 ** 31, 2 ** 53, 1e300, -1e300, Number.NaN, Number.POSITIVE_INFINITY, 10n],
  ...[
    true,
    false,
    Symbol("s"),
    () => 1,
    new Date(Number.NaN),
    new Date(8.64e15),
    new Date(0),
    new Date(253_402_300_799_999),
  ],
  ...[
    [],
    [null],
    [undefined],
    Array(5),
    Array(100_000).fill("x"),
    ["a", "a"],
    {},
    Object.create(null),
    revoked,
  ],
  ...[
    JSON.parse('{"__proto__":{"policy":"all"}}'),
    { policy: "once", limit: 1e300 },
    { toString: 1 },
    new Map(),
  ],
]

/** Tries each option of each function with each value, on this store. Returns how many were accepted. */
export async function tryHostileOptions(store: Store): Promise<number> {
  await using scheduler = createScheduler({ store, tasks: [TASK], logger: silentLogger })
  await scheduler.schedules.create("s", DAILY)
  let accepted = 0
  for (const [name, options, call] of [...callsWithOptions(scheduler), ...callsWithArguments(scheduler)]) {
    for (const option of options) {
      for (const value of HOSTILE) accepted += await isAccepted(name, option, () => call(option, value))
    }
  }
  return accepted
}

const TASK = defineTask({ name: "task", run: () => undefined })
const DAILY = { task: "task", cron: "0 0 * * *" } as const

type HostileCall = readonly [
  name: string,
  options: readonly string[],
  call: (option: string, value: unknown) => unknown,
]

/** Returns 1 if the call succeeds, and 0 if it is refused with the option's name. Every other outcome fails the test. */
export async function isAccepted(source: string, option: string, call: () => unknown): Promise<number> {
  try {
    await call()
    return 1
  } catch (error) {
    const where = `${source}, ${option}: ${error instanceof Error ? error.stack : String(error)}`
    assert.ok(error instanceof BelfryError, where)
    const isMistake = error.status < 500 || error.code === "BELFRY_SCHEDULER_INVALID"
    const isNamed =
      error.message.includes(option) || SAYS_WHAT.test(error.code) || IS_UNDERSTOOD.test(error.message)
    assert.ok(isMistake && isNamed, where)
    assert.ok(error.message.length < 1_200, where)
    return 0
  }
}

/** Errors with these codes show the value itself. */
const SAYS_WHAT = /^BELFRY_(PAYLOAD|OCCURRENCE)_/
/** The value is valid, but not for this schedule in its current state. */
const IS_UNDERSTOOD =
  /no occurrence to come|can't be (paused|planned|triggered)|There is no |more than 1000 occ|is at revision|exactly one of cron|is not an option|is undefined; use|is pending and/

/** An object with this option only, also if its name is `__proto__`. */
export function only(option: string, value: unknown): never {
  return Object.fromEntries([[option, value]]) as never
}

export function withForeign(table: object): readonly string[] {
  return [...Object.keys(table), "__proto__", "constructor", "prototype", "unheardOf"]
}

function callsWithOptions(scheduler: Scheduler): readonly HostileCall[] {
  const { schedules, runs } = scheduler
  const plain = (name: string, table: object, call: (options: never) => unknown): HostileCall => [
    name,
    withForeign(table),
    (option, value) => call(only(option, value)),
  ]
  const range = { from: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" }
  return [
    ["create", withForeign(CREATE_OPTIONS), (option, value) => createdAndKept(scheduler, option, value)],
    ["update", withForeign(SCHEDULE_CHANGES), (option, value) => updatedAndKept(scheduler, option, value)],
    ["enqueue", withForeign(ENQUEUE_OPTIONS), (option, value) => enqueuedAndKept(scheduler, option, value)],
    plain("update", UPDATE_BASE, (options) => schedules.update("s", {}, options)),
    plain("list", SCHEDULE_QUERY, (options) => schedules.list(options)),
    plain("trigger", TRIGGER_NOW_OPTIONS, (options) => schedules.trigger("s", options)),
    plain("pause", PAUSE_OPTIONS, (options) => schedules.pause("s", options)),
    plain("skip", CHANGE_REASON, (options) => schedules.skip("s", undefined, options)),
    plain("preview", PREVIEW_OPTIONS, (options) => schedules.preview("s", 3, options)),
    plain("occurrences", LEDGER_PAGE, (options) => schedules.occurrences("s", options)),
    [
      "planBackfill",
      withForeign(PLAN_BACKFILL_OPTIONS),
      (option, value) => schedules.planBackfill("s", { ...range, ...(only(option, value) as object) }),
    ],
    plain("backfill", BACKFILL_OPTIONS, async (options) =>
      schedules.backfill(await schedules.planBackfill("s", range), options),
    ),
    plain("runs.list", RUN_QUERY, (options) => runs.list(options)),
    plain("runs.count", { state: 1, task: 1 }, (options) => runs.count(options)),
    plain("runs.logs", LOG_PAGE, (options) => runs.logs("r", options)),
    plain("runs.cancel", CHANGE_REASON, (options) => runs.cancel("r", options)),
    plain("runs.wait", { timeout: 1 }, (options) => runs.wait("r", options)),
    plain("workers", WORKERS_PAGE, (options) => scheduler.workers(options)),
    plain("reconcile", RECONCILE_OPTIONS, (options) => scheduler.reconcile(options)),
  ]
}

function callsWithArguments(scheduler: Scheduler): readonly HostileCall[] {
  const { schedules, runs } = scheduler
  const one = (name: string, argument: string, call: (value: never) => unknown): HostileCall => [
    name,
    [argument],
    (_, value) => call(value as never),
  ]
  return [
    one("create", "id", (id) => schedules.create(id, DAILY).then(() => schedules.delete(id))),
    one("create", "options", (options) => schedules.create("x", options)),
    one("get", "id", (id) => schedules.get(id)),
    one("delete", "id", (id) => schedules.delete(id)),
    one("resume", "id", (id) => schedules.resume(id)),
    one("trigger", "id", (id) => schedules.trigger(id)),
    one("reschedule", "to", (to) => schedules.reschedule("s", to)),
    one("skip", "scheduledFor", (scheduledFor) => schedules.skip("s", scheduledFor)),
    one("move", "scheduledFor", (scheduledFor) => schedules.move("s", scheduledFor, 5)),
    one("move", "to", (to) => schedules.move("s", 5, to)),
    one("restore", "scheduledFor", (scheduledFor) => schedules.restore("s", scheduledFor)),
    one("preview", "count", (count) => schedules.preview("s", count)),
    one("backfill", "plan", (plan) => schedules.backfill(plan)),
    one("enqueue", "task", (task) => scheduler.enqueue(task)),
    one("runs.get", "id", (id) => runs.get(id)),
    one("runs.retry", "id", (id) => runs.retry(id)),
  ]
}

let idCount = 0

async function createdAndKept({ schedules }: Scheduler, option: string, value: unknown): Promise<void> {
  const isTimetable = ["cron", "every", "at", "in", "triggers"].includes(option)
  const usual = isTimetable ? { task: "task" } : DAILY
  const id = `created-${idCount++}`
  const created = await schedules.create(id, { ...usual, ...(only(option, value) as object) } as never)

  assert.deepEqual(await schedules.get(id), created)
  await schedules.delete(id)
}

async function updatedAndKept({ schedules }: Scheduler, option: string, value: unknown): Promise<void> {
  const id = "updated"
  if ((await schedules.get(id)) === null) await schedules.create(id, { ...DAILY, enabled: false })
  const updated = await schedules.update(id, only(option, value), { ifRevision: 1 })

  assert.deepEqual(await schedules.get(id), updated)
  await schedules.delete(id)
}

async function enqueuedAndKept(scheduler: Scheduler, option: string, value: unknown): Promise<void> {
  const payload = { option, text: "ä\u2028", ["__proto__"]: { isAdmin: true } }
  const { runId } = await scheduler.enqueue("task", { payload, ...(only(option, value) as object) })
  const run = await scheduler.runs.get(runId)

  assert.deepEqual(run?.payload, payload)
  if (option === "id") assert.equal(run?.id, value)
  if (option === "priority") assert.equal(run?.priority, (value as number) + 0)
}
