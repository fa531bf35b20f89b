/**
 * One process of BullMQ: a program that `shared/contender.ts` starts. Its documentation recommends concurrency and bulk adds for
 * throughput. Finished jobs are removed, which is less work for BullMQ than to keep them. The concurrency is the best of the
 * values tried here.
 */
import { Queue, Worker } from "bullmq"
import { answer, inFlight, Stopwatch, timed } from "../shared/answering.ts"

const { hostname: host, port } = new URL(process.argv[2])
const connection = { host, port: Number(port) }
const CONCURRENCY = 200
const KEPT = { removeOnComplete: true }

const watch = new Stopwatch()
const started = []
let noop = null
let noted = null
let worker = null

answer({
  async prepare() {
    noop = new Queue("noop", { connection, defaultJobOptions: KEPT })
    noted = new Queue("noted", { connection, defaultJobOptions: KEPT })
    await Promise.all([noop.waitUntilReady(), noted.waitUntilReady()])
  },

  enqueueMany: ({ count, batch }) =>
    timed(async () => {
      for (let at = 0; at < count; at += batch) {
        const jobs = Array.from({ length: Math.min(batch, count - at) }, (_, index) => ({
          name: "noop",
          data: { number: at + index },
        }))
        await noop.addBulk(jobs)
      }
    }),

  enqueueEach: ({ count, atOnce }) =>
    timed(() => inFlight(count, atOnce, (number) => noop.add("noop", { number }))),

  perform({ count }) {
    worker = new Worker("noop", async () => watch.begin(), { connection, concurrency: CONCURRENCY })
    return watch.untilNothingIsLeft(count, async () => {
      const { wait, active } = await noop.getJobCounts("wait", "active")
      return wait + active > 0
    })
  },

  async scheduleAt({ count, at }) {
    const time = new Date(at)
    const pattern = `${time.getUTCSeconds()} ${time.getUTCMinutes()} ${time.getUTCHours()} * * *`
    await schedule(count, pattern)
  },
  scheduleYearly: ({ count }) => schedule(count, "0 0 0 1 1 *"),

  async work() {
    const note = async ({ data }) => {
      started.push([data.id, Date.now()])
    }
    worker = new Worker("noted", note, { connection, concurrency: CONCURRENCY })
    await worker.waitUntilReady()
  },

  started: () => started,
  async stop() {
    await worker?.close()
    await noop.close()
    await noted.close()
  },
})

function schedule(count, pattern) {
  return inFlight(count, 50, (index) => {
    const id = `due-${index + 1}`
    return noted.upsertJobScheduler(id, { pattern, tz: "UTC" }, { name: "noted", data: { id }, opts: KEPT })
  })
}
