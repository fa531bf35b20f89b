/** One process of Belfry: a program that `contender.ts` starts, and the commands that every contender knows. */
import { createScheduler, defineTask, type Scheduler, silentLogger } from "../../src/index.ts"
import { postgres } from "../../src/postgres.ts"
import { aRun } from "../../src/store/laws/factories.ts"
import { connected } from "../../test/support/postgres.ts"
import { answer, inFlight, Stopwatch, timed } from "./answering.ts"
import { DAY, storeSchedules, storeYearly } from "./stored-schedules.ts"

/** Among the best of 100 to 2,000 here, which differ little. */
const CONCURRENCY = 500

/** Which schedule's handler began when. */
export type Started = readonly (readonly [scheduleId: string, at: number])[]

const url = process.argv[2]!
const store = postgres(url)
const watch = new Stopwatch()
const started: [scheduleId: string, at: number][] = []
let scheduler: Scheduler | null = null

const noop = defineTask({ name: "noop", run: () => watch.begin() })
const noted = defineTask({
  name: "noted",
  run: ({ run }) => {
    started.push([run.scheduleId!, Date.now()])
  },
})

answer({
  prepare: () => store.open(),

  enqueueMany: ({ count, batch }: { count: number; batch: number }) =>
    timed(async () => {
      for (let at = 0; at < count; at += batch) {
        const runs = Array.from({ length: Math.min(batch, count - at) }, (_, index) =>
          aRun({ id: `many-${at + index}`, task: "noop", payload: { number: at + index } }),
        )
        await store.enqueue(runs)
      }
    }),

  enqueueEach({ count, atOnce }: { count: number; atOnce: number }) {
    const producer = createScheduler({ store, tasks: [noop], logger: silentLogger })
    return timed(() => inFlight(count, atOnce, (number) => producer.enqueue("noop", { number })))
  },

  async perform({ count }: { count: number }) {
    await using client = await connected(url)
    scheduler = createScheduler({ store, tasks: [noop], concurrency: CONCURRENCY, logger: silentLogger })
    await scheduler.start()
    return await watch.untilNothingIsLeft(count, async () => {
      const { rows } = await client.query(
        "select 1 as bench_left from belfry.runs where state <> 'succeeded' limit 1",
      )
      return rows.length > 0
    })
  },

  scheduleAt: ({ count, at }: { count: number; at: number }) => {
    const instant = new Date(at)
    const time = [instant.getUTCSeconds(), instant.getUTCMinutes(), instant.getUTCHours()].join(" ")
    return storeSchedules(store, url, {
      prefix: "due",
      count,
      cron: `${time} * * *`,
      from: { task: "noted", nextRunAt: at, coveredUntil: at - DAY, createdAt: at - DAY },
    })
  },

  scheduleYearly: ({ count }: { count: number }) => storeYearly(store, url, count),

  async work() {
    scheduler = createScheduler({ store, tasks: [noted], concurrency: CONCURRENCY, logger: silentLogger })
    await scheduler.start()
  },

  started: (): Started => started,
  stop: () => scheduler?.stop(),
})
