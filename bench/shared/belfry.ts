import type { NewSchedule } from "../../src/core/schedule/schedule.ts"
import type { StandardSchema } from "../../src/core/values/standard-schema.ts"
import { createScheduler, defineTask, type Scheduler, silentLogger } from "../../src/index.ts"
import { aSchedule } from "../../src/store/laws/factories.ts"
import type { Store } from "../../src/store.ts"
import type { AnyTask } from "../../src/task/task.ts"
import { answer, inFlight, Stopwatch, timed } from "./answering.ts"

/** As many as graphile-worker takes at once here. 500 took 10 % longer. */
const CONCURRENCY = 2_000

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** When the handler of each schedule began. */
export type Started = readonly (readonly [scheduleId: string, at: number])[]

export interface BelfryOn {
  readonly store: Store
  /** Whether any run is unfinished. Called in a loop, so it must be cheap. */
  isAnythingLeft(): Promise<boolean>
  /** Stores `count` copies of a schedule as `prefix-1`, `prefix-2`… Single calls would take a minute for a hundred thousand. */
  putMany(schedule: NewSchedule, prefix: string, count: number): Promise<void>
}

/** Accepts any payload, because the peers do not validate payloads. */
const ANYTHING: StandardSchema = {
  "~standard": { version: 1, vendor: "bench", validate: (value) => ({ value }) },
}

/** Answers, as one process of Belfry, the commands that every contender has. */
export function answerAsBelfry({ store, isAnythingLeft, putMany }: BelfryOn): void {
  const watch = new Stopwatch()
  const started: [scheduleId: string, at: number][] = []
  let scheduler: Scheduler | null = null

  const noop = defineTask({ name: "noop", payload: ANYTHING, run: () => watch.begin() })
  const noted = defineTask({
    name: "noted",
    run: ({ run }) => {
      started.push([run.scheduleId!, Date.now()])
    },
  })
  const start = async (task: AnyTask) => {
    scheduler = createScheduler({ store, tasks: [task], concurrency: CONCURRENCY, logger: silentLogger })
    await scheduler.start()
  }

  answer({
    prepare: () => store.open(),

    enqueueMany({ count, batch }: { count: number; batch: number }) {
      const producer = createScheduler({ store, tasks: [noop], logger: silentLogger })
      return timed(async () => {
        for (let at = 0; at < count; at += batch) {
          const runs = Array.from({ length: Math.min(batch, count - at) }, (_, index) => ({
            payload: { number: at + index },
          }))
          await producer.enqueueMany("noop", runs)
        }
      })
    },

    enqueueEach({ count, atOnce }: { count: number; atOnce: number }) {
      const producer = createScheduler({ store, tasks: [noop], logger: silentLogger })
      return timed(() =>
        inFlight(count, atOnce, (number) => producer.enqueue("noop", { payload: { number } })),
      )
    },

    async perform({ count }: { count: number }) {
      await start(noop)
      return await watch.untilNothingIsLeft(count, isAnythingLeft)
    },

    scheduleAt({ count, at }: { count: number; at: number }) {
      const instant = new Date(at)
      const time = [instant.getUTCSeconds(), instant.getUTCMinutes(), instant.getUTCHours()].join(" ")
      const from = { task: "noted", nextRunAt: at, coveredUntil: at - DAY, createdAt: at - DAY }
      return putMany(aBenchSchedule(`${time} * * *`, from), "due", count)
    },

    scheduleYearly: ({ count }: { count: number }) => putMany(aYearlySchedule(), "yearly", count),

    work: () => start(noted),
    started: (): Started => started,
    stop: () => scheduler?.stop(),
  })
}

export function aBenchSchedule(cron: string, from: Partial<NewSchedule>): NewSchedule {
  const triggers = [{ kind: "cron", cron, dayMatch: "either" } as const]
  return aSchedule({ triggers, payload: { customer: "c-1234567", kind: "digest" }, ...from })
}

/** A schedule that is not due before New Year. */
export function aYearlySchedule(): NewSchedule {
  const now = Date.now()
  const nextRunAt = Date.UTC(new Date(now).getUTCFullYear() + 1)
  return aBenchSchedule("0 0 1 1 *", { task: "noted", nextRunAt, coveredUntil: now, createdAt: now })
}
