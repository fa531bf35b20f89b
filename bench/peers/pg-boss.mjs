/**
 * One process of pg-boss: a program that `shared/contender.ts` starts. Its documentation recommends batches, bursts and
 * notifications for throughput. The sizes are the best of the values tried here.
 */
import pg from "pg"
import { PgBoss } from "pg-boss"
import { answer, inFlight, Stopwatch, timed } from "../shared/answering.ts"

const connectionString = process.argv[2]
const WORK = { batchSize: 1_000, localConcurrency: 4, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }

/** The shortest intervals that pg-boss allows for checking schedules and for passing on their jobs. */
const PUNCTUAL = { cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 }

let boss = null
let work = WORK
const watch = new Stopwatch()
const started = []

answer({
  /** In the measurement of idle processes, pg-boss polls with its defaults. */
  async prepare({ isIdle = false }) {
    boss = new PgBoss({ connectionString, useListenNotify: true, ...(isIdle ? {} : PUNCTUAL) })
    boss.on("error", (error) => console.error(error))
    if (isIdle) work = {}
    await boss.start()
    await boss.createQueue("noop", { notify: true })
    await boss.createQueue("noted", { notify: true })
  },

  enqueueMany: ({ count, batch }) =>
    timed(async () => {
      for (let at = 0; at < count; at += batch) {
        const jobs = Array.from({ length: Math.min(batch, count - at) }, (_, index) => ({
          data: { number: at + index },
        }))
        await boss.insert("noop", jobs)
      }
    }),

  enqueueEach: ({ count, atOnce }) =>
    timed(() => inFlight(count, atOnce, (number) => boss.send("noop", { number }))),

  async perform({ count }) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    await boss.work("noop", WORK, async (jobs) => watch.begin(jobs.length))
    const ms = await watch.untilNothingIsLeft(count, async () => {
      const { rows } = await client.query(
        "select 1 as bench_left from pgboss.job where name = 'noop' and state < 'completed' limit 1",
      )
      return rows.length > 0
    })
    await client.end()
    return ms
  },

  /** Only full minutes are supported. */
  async scheduleAt({ count, at }) {
    const time = new Date(at)
    await schedule(count, `${time.getUTCMinutes()} ${time.getUTCHours()} * * *`)
  },
  scheduleYearly: ({ count }) => schedule(count, "0 0 1 1 *"),

  work: () =>
    boss.work("noted", work, async (jobs) => {
      const now = Date.now()
      for (const { data } of jobs) started.push([data.id, now])
    }),

  started: () => started,
  stop: () => boss.stop(),
})

function schedule(count, cron) {
  return inFlight(count, 10, (index) => {
    const id = `due-${index + 1}`
    return boss.schedule("noted", cron, { id }, { key: id })
  })
}
