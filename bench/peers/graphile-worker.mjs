/**
 * One process of graphile-worker: a program that `shared/contender.ts` starts. The settings are those that its documentation
 * recommends for throughput (https://worker.graphile.org/docs/performance). For runs the numbers are larger, which was faster
 * here.
 */
import { Logger, makeWorkerUtils, parseCronItems, run } from "graphile-worker"
import pg from "pg"
import { answer, inFlight, Stopwatch, timed } from "../shared/answering.ts"

const connectionString = process.argv[2]
const preset = {
  worker: {
    connectionString,
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger: new Logger(() => () => undefined),
  },
}
const performing = {
  worker: { ...preset.worker, concurrentJobs: 100, maxPoolSize: 50, localQueue: { size: 2_000 } },
}
const watch = new Stopwatch()
const started = []
let utils = null
let runner = null
let cronItems = []

const taskList = {
  noop: () => watch.begin(),
  noted: ({ id }) => {
    started.push([id, Date.now()])
  },
}

answer({
  async prepare() {
    utils = await makeWorkerUtils({ preset })
    await utils.migrate()
  },

  enqueueMany: ({ count, batch }) =>
    timed(async () => {
      for (let at = 0; at < count; at += batch) {
        const jobs = Array.from({ length: Math.min(batch, count - at) }, (_, index) => ({
          identifier: "noop",
          payload: { number: at + index },
        }))
        await utils.addJobs(jobs)
      }
    }),

  enqueueEach: ({ count, atOnce }) =>
    timed(() => inFlight(count, atOnce, (number) => utils.addJob("noop", { number }))),

  async perform({ count }) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    runner = await run({ preset: performing, taskList, parsedCronItems: [] })
    const ms = await watch.untilNothingIsLeft(count, async () => {
      const { rows } = await client.query("select 1 as bench_left from graphile_worker.jobs limit 1")
      return rows.length > 0
    })
    await client.end()
    return ms
  },

  /** graphile-worker keeps no schedules in the database, so each process gets all of them. Only full minutes are supported. */
  scheduleAt({ count, at }) {
    const time = new Date(at)
    cronItems = cronItemsOf(count, `${time.getUTCMinutes()} ${time.getUTCHours()} * * *`)
  },
  scheduleYearly({ count }) {
    cronItems = cronItemsOf(count, "0 0 1 1 *")
  },
  /** Instead of cron: jobs that are added in advance, to run at that instant. */
  async delayTo({ count, at }) {
    const jobs = Array.from({ length: count }, (_, index) => ({
      identifier: "noted",
      payload: { id: `due-${index + 1}` },
      runAt: new Date(at),
    }))
    await utils.addJobs(jobs)
  },

  async work() {
    runner = await run({ preset, taskList, parsedCronItems: cronItems })
  },

  started: () => started,
  stop: () => runner?.stop(),
})

function cronItemsOf(count, match) {
  return parseCronItems(
    Array.from({ length: count }, (_, index) => ({
      task: "noted",
      match,
      payload: { id: `due-${index + 1}` },
      identifier: `due-${index + 1}`,
    })),
  )
}
