import * as v from "valibot"
import * as z from "zod"
import {
  createScheduler,
  type Duration,
  defineTask,
  type Json,
  memory,
  type Scheduler,
} from "../../src/index.ts"

/**
 * This code doesn't run: `tsc` is the test. By the specification (`api.md`) a line under `@ts-expect-error` must not compile. If
 * it does, `tsc` reports the directive as an error.
 */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function expectType<_Holds extends true>(): void {}

const digestSchema = z.object({ userId: z.string(), limit: z.number().default(10) })

export const sendDigest = defineTask({
  name: "send-digest",
  payload: digestSchema,
  retry: { attempts: 5, backoff: "exponential" },
  timeout: "2m",
  run({ payload, signal, run, log }) {
    expectType<Equal<typeof payload, { userId: string; limit: number }>>()
    expectType<Equal<typeof signal, AbortSignal>>()
    expectType<Equal<typeof run.attempt, number>>()
    expectType<Equal<typeof run.scheduledFor, Date | null>>()
    log.info("typed")
  },
})

export const resize = defineTask({
  name: "resize",
  payload: v.object({ path: v.string(), width: v.optional(v.number(), 800) }),
  run({ payload }) {
    expectType<Equal<typeof payload, { path: string; width: number }>>()
  },
})

export const vacuum = defineTask({ name: "vacuum", run: () => undefined })
export const greet = defineTask({ name: "greet", payload: z.string().optional(), run: () => undefined })
export const withDefault = defineTask({
  name: "with-default",
  payload: z.string().default("x"),
  run({ payload }) {
    expectType<Equal<typeof payload, string>>()
  },
})

export async function enqueues(scheduler: Scheduler): Promise<void> {
  await scheduler.enqueue(sendDigest, { payload: { userId: "42" }, delay: "10m", key: "digest:42" })
  await scheduler.enqueue(sendDigest, { payload: { userId: "42", limit: 5 } })
  await scheduler.enqueue(resize, { payload: { path: "a.png" } })
  await scheduler.enqueue(vacuum)
  await scheduler.enqueue(vacuum, { delay: 500, priority: "high" })
  await scheduler.enqueue(vacuum, { at: new Date() })
  await scheduler.enqueue(greet)
  await scheduler.enqueue(greet, { payload: "hello" })
  await scheduler.enqueue(withDefault)
  await scheduler.enqueue("elsewhere", { payload: { any: "json" }, id: "1" })

  // @ts-expect-error payload is required
  await scheduler.enqueue(sendDigest)
  // @ts-expect-error userId is a string
  await scheduler.enqueue(sendDigest, { payload: { userId: 42 } })
  // @ts-expect-error userId is missing
  await scheduler.enqueue(sendDigest, { payload: {} })
  // @ts-expect-error path is a string, also with Valibot
  await scheduler.enqueue(resize, { payload: { path: 1 } })
  // @ts-expect-error payload is required, also with Valibot
  await scheduler.enqueue(resize)
  // @ts-expect-error not a duration
  await scheduler.enqueue(vacuum, { delay: "soon" })
  // @ts-expect-error not a priority
  await scheduler.enqueue(vacuum, { priority: "urgent" })
  // @ts-expect-error no such option
  await scheduler.enqueue(vacuum, { retries: 3 })
  // @ts-expect-error the payload is text
  await scheduler.enqueue(greet, { payload: 7 })
}

export function declares(): void {
  sendDigest.schedule("weekday-digest", { cron: "0 8 * * 1-5", payload: { userId: "all" } })
  vacuum.schedule("nightly", { every: "1d" })
  greet.schedule("greeting", { every: "1h30m" })
  vacuum.schedule("local", { every: "PT15M", local: true })

  // @ts-expect-error payload is required
  sendDigest.schedule("weekday-digest", { cron: "0 8 * * 1-5" })
  // @ts-expect-error userId is a string
  sendDigest.schedule("weekday-digest", { cron: "0 8 * * 1-5", payload: { userId: 1 } })
  // @ts-expect-error `in` would mean another time at each start
  vacuum.schedule("later", { in: "10m" })
  // @ts-expect-error no such policy
  vacuum.schedule("nightly", { every: "1d", overlap: "sometimes" })
  // @ts-expect-error no such policy
  vacuum.schedule("nightly", { every: "1d", catchUp: "twice" })
  // @ts-expect-error not a duration
  vacuum.schedule("nightly", { every: "daily" })
}

export async function steers(scheduler: Scheduler): Promise<void> {
  await scheduler.schedules.create("s", { task: sendDigest, cron: "@daily", payload: { userId: "1" } })
  await scheduler.schedules.create("s", { task: vacuum, in: "10m" })
  await scheduler.schedules.update("s", { cron: "@hourly", jitter: null }, { ifRevision: 1 })

  // @ts-expect-error payload is required
  await scheduler.schedules.create("s", { task: sendDigest, cron: "@daily" })
  // @ts-expect-error userId is a string
  await scheduler.schedules.create("s", { task: sendDigest, cron: "@daily", payload: { userId: 1 } })
  // @ts-expect-error ifRevision is required
  await scheduler.schedules.update("s", { cron: "@hourly" })
  // @ts-expect-error no such role
  await scheduler.start({ roles: ["lead"] })(
    // @ts-expect-error no such state
    await scheduler.runs.list({ state: "stalled" }),
  ).items
}

export function makes(): Scheduler {
  // @ts-expect-error a store is required
  createScheduler({ tasks: [sendDigest] })
  // @ts-expect-error a task has a run function
  defineTask({ name: "empty" })
  return createScheduler({ store: memory(), tasks: [sendDigest, resize, vacuum] })
}

const measure = defineTask({
  name: "measure",
  run: async () => ({ bytes: 5, at: new Date(), tags: ["a"], note: undefined as string | undefined }),
})
const report = defineTask({
  name: "report",
  run: () => ({ success: true, message: "ok", details: { sent: 3 } }),
})
const nothing = defineTask({ name: "nothing", run: async () => {} })

/** The type of a task's result is known to a caller that waits for its run. */
export async function results(scheduler: Scheduler, which: boolean): Promise<void> {
  const measured = (await (await scheduler.enqueue(measure)).wait({ timeout: "1m" }))?.details
  if (measured && !("notStored" in measured))
    expectType<
      Equal<
        typeof measured,
        {
          readonly bytes: number
          readonly at: string
          readonly tags: readonly string[]
          readonly note: string
        }
      >
    >()
  // A result that can't be stored: its names can be read, and are undefined.
  expectType<Equal<NonNullable<typeof measured>["bytes"], number | undefined>>()
  const reported = (await scheduler.runs.wait(await scheduler.enqueue(report)))?.details
  expectType<Equal<NonNullable<typeof reported>["sent"], number | undefined>>()
  const done = await (await scheduler.enqueue(nothing)).wait()
  expectType<Equal<NonNullable<typeof done>["details"], null>>()
  const byName = await (await scheduler.enqueue("elsewhere")).wait()
  expectType<Equal<NonNullable<typeof byName>["details"], Json>>()
  const either = await (await scheduler.enqueue(which ? report : nothing)).wait()
  expectType<Equal<NonNullable<NonNullable<typeof either>["details"]>["sent"], number | undefined>>()
  const timeout: Duration = "1h30m15s"
  // @ts-expect-error Only a queue has a limit.
  report.schedule("limited", { every: timeout, overlap: { policy: "skip", limit: 2 } })
}
