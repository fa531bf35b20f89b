import type { Schedules } from "../../src/scheduler/schedules/schedules.ts"
import type { CreateOptions } from "../../src/scheduler/schedules/steering-options.ts"
import type { DeclaredSchedule } from "../../src/task/declared-schedule.ts"
import { type AnyTask, defineTask } from "../../src/task/task.ts"
import type { TaskContext } from "../../src/task/task-context.ts"
import type { Chance } from "./chance.ts"
import type { Node } from "./node.ts"
import type { Observer } from "./observer.ts"
import { NIGHTLY_IN_BERLIN } from "./oracle.ts"

/** The simulated application: tasks that are slow, fail, hang or kill their process, on many schedules. */
export function applicationFor(
  node: Node,
  about: { chance: Chance; observer: Observer; paymentMaxMs: number; kill: (node: Node) => void },
) {
  const { chance, observer } = about
  const reportStart = (context: TaskContext) => observer.runs.onStart(context.run.id, context.run.attempt)

  const quick = defineTask({
    name: "quick",
    run: async (context) => {
      reportStart(context)
      await sleep(node, chance.between(0, 3_000))
    },
  })
  const slow = defineTask({
    name: "slow",
    timeout: "5m",
    run: async (context) => {
      reportStart(context)
      context.progress(0.5)
      const ignoresSignal = chance.happens(0.05)
      await sleep(
        node,
        chance.happens(0.05) ? 3_600_000 : chance.between(0, 240_000),
        ignoresSignal ? undefined : context.signal,
      )
    },
  })
  const flaky = defineTask({
    name: "flaky",
    lease: "5s",
    retry: { attempts: 4, delay: "10s" },
    run: async (context) => {
      reportStart(context)
      await sleep(node, chance.between(0, 1_000))
      if (chance.happens(0.5)) throw new Error("simulated failure")
      return { success: chance.happens(0.9), message: "done" }
    },
  })
  const deadly = defineTask({
    name: "deadly",
    run: async (context) => {
      reportStart(context)
      about.kill(node)
      if (node.isDead) await new Promise(() => undefined)
    },
  })
  const payment = defineTask({
    name: "payment",
    delivery: "at-most-once",
    run: async (context) => {
      reportStart(context)
      await sleep(node, chance.between(0, about.paymentMaxMs), context.signal)
    },
  })
  const tasks: readonly AnyTask[] = [quick, slow, flaky, deadly, payment]
  const schedules: readonly DeclaredSchedule[] = [
    quick.schedule("minutely", { cron: "* * * * *" }),
    slow.schedule("quarterly", { cron: "*/15 * * * *" }),
    flaky.schedule("hourly", { cron: "0 * * * *" }),
    quick.schedule("nightly", { cron: NIGHTLY_IN_BERLIN, timezone: "Europe/Berlin" }),
    quick.schedule("jittered", { cron: "*/10 * * * *", jitter: "5m" }),
    slow.schedule("all", {
      cron: "*/30 * * * *",
      catchUp: { policy: "all", limit: 5 },
      overlap: { policy: "queue", limit: 8 },
    }),
    deadly.schedule("deadly", { every: "6h", anchor: 3_600_000 }),
    payment.schedule("payments", { cron: "*/10 * * * *" }),
  ]
  return { tasks, schedules }
}

export const ATTEMPTS_ALLOWED: Readonly<Record<string, number>> = {
  ...{ quick: 3, slow: 3, flaky: 4, deadly: 3 },
  payment: 1,
}
export const AT_MOST_ONCE: ReadonlySet<string> = new Set(["payment"])

/** Schedules that an operator creates, in addition to the declared ones. */
export const BY_HAND: Readonly<Record<string, (now: number) => CreateOptions<unknown>>> = {
  sevens: () => ({ task: "quick", every: "7m", overlap: "allow" }),
  strict: () => ({ task: "quick", cron: "*/5 * * * *", catchUp: { policy: "none", grace: "30s" } }),
  replaced: () => ({ task: "slow", cron: "*/20 * * * *", overlap: "replace" }),
  queued: () => ({ task: "slow", every: "10m", overlap: { policy: "queue", limit: 2 } }),
  limited: () => ({ task: "quick", every: "30m", maxRuns: 10, removeWhenFinished: true }),
  dependent: () => ({ task: "quick", cron: "5 * * * *", dependsOn: [{ schedule: "hourly", within: "30m" }] }),
  ending: (now) => ({ task: "quick", every: "15m", endsAt: now + 12 * 3_600_000 }),
  once: (now) => ({ task: "flaky", at: now + 3 * 3_600_000 }),
}

export async function createByHand(schedules: Schedules, now: number): Promise<void> {
  for (const [id, optionsAt] of Object.entries(BY_HAND)) await schedules.create(id, optionsAt(now))
}

/** The schedules that operators change. Those that fire most often are listed several times. */
export const SCHEDULE_IDS = [
  ...["minutely", "minutely", "minutely", "strict", "strict", "jittered", "sevens"],
  ...["quarterly", "hourly", "all", "replaced", "queued", "ending"],
]

function sleep(node: Node, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = node.clock.setTimer(delayMs, resolve)
    signal?.addEventListener("abort", () => {
      cancel()
      reject(signal.reason)
    })
  })
}
