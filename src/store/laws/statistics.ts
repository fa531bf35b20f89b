import assert from "node:assert/strict"
import { bucketAt, type Counters, type StatisticsAddition } from "../../core/records/statistics.ts"
import { HOUR, MINUTE } from "../../core/time/instant.ts"
import type { Heartbeat, Store } from "../store.ts"
import { aHeartbeat, aPruning, aWorker, LONG_MS, SHORT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { several } from "./steps.ts"

const HOURS = { ms: HOUR, keptMs: 24 * HOUR }
const MINUTES = { ms: MINUTE, keptMs: LONG_MS }

function anAddition(over: Partial<StatisticsAddition> = {}): StatisticsAddition {
  return { subject: "all", spans: [HOURS], agoMs: 0, counters: { succeeded: 1 }, ...over }
}

function aBatch(number: number, ...additions: readonly StatisticsAddition[]): Partial<Heartbeat> {
  return { statistics: { number, additions } }
}

async function beat(store: Store, over: Partial<Heartbeat>): Promise<boolean> {
  return (await store.heartbeat(aHeartbeat(over))).areStatisticsIn
}

/** The sum of all buckets. */
async function counted(store: Store, subject = "all", spanMs = HOUR): Promise<Counters> {
  const buckets = await store.summarise({ subject, spanMs, from: 0, until: FAR, limit: 1_000 })
  const sum: Record<string, number> = {}
  for (const { counters } of buckets)
    for (const [name, count] of Object.entries(counters)) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/** Year 2255. */
const FAR = 9_000_000_000_000

export const WHOLE_STATISTICS = [
  lawCase("Counters of all processes are added up by name", async (store) => {
    const workers = ["a", "b"].map((id) => aWorker({ id }))
    await beat(store, {
      worker: workers[0]!,
      ...aBatch(1, anAddition({ counters: { succeeded: 2, "lateness:5": 1 } })),
    })
    await beat(store, {
      worker: workers[1]!,
      ...aBatch(1, anAddition({ counters: { failed: 3, succeeded: 40 } })),
    })
    await beat(store, {
      worker: workers[0]!,
      ...aBatch(2, anAddition({ counters: { durationMs: 123_456_789_012 } })),
    })

    assert.deepEqual(await counted(store), {
      succeeded: 42,
      "lateness:5": 1,
      failed: 3,
      durationMs: 123_456_789_012,
    })
  }),
  lawCase("Subjects and spans are counted separately", async (store) => {
    const subjects = ["all", "task:report", "task:Report", "schedule:report", "task:a b"]
    const additions = subjects.map((subject, index) =>
      anAddition({ subject, spans: index === 0 ? [HOURS, MINUTES] : [HOURS], counters: { n: index + 1 } }),
    )
    await beat(store, aBatch(1, ...additions))

    for (const [index, subject] of subjects.entries())
      assert.deepEqual(await counted(store, subject), { n: index + 1 }, subject)
    assert.deepEqual(await counted(store, "all", MINUTE), { n: 1 })
    assert.deepEqual(await counted(store, "task:report", MINUTE), {})
    assert.deepEqual(await counted(store, "unknown"), {})
  }),
  lawCase("Several additions of one batch to one bucket are added up", async (store) => {
    await beat(store, aBatch(1, anAddition(), anAddition(), anAddition({ counters: { failed: 1 } })))

    assert.deepEqual(await counted(store), { succeeded: 2, failed: 1 })
  }),
  lawCase("The statistics of a leaving worker are added", async (store) => {
    await beat(store, {})
    const worker = aWorker()
    assert.equal(await beat(store, { worker, isLeaving: true, ...aBatch(1, anAddition()) }), true)

    assert.deepEqual(await counted(store), { succeeded: 1 })
    assert.deepEqual(await store.findWorkers({ afterId: null, limit: 10 }), [])
  }),
  lawCase("Twenty processes that add to one bucket at once lose no counts", async (store, lab) => {
    const stores = [store, ...(await Promise.all(several(3, () => lab.openPeer())))]
    const subjects = ["all", "task:a", "task:b"]
    await Promise.all(
      several(20, (index) => {
        const additions = subjects.map((subject) => anAddition({ subject }))
        if (index % 2 === 0) additions.reverse()
        return beat(stores[index % stores.length]!, {
          worker: aWorker({ id: `w${index}` }),
          ...aBatch(1, ...additions),
        })
      }),
    )

    for (const subject of subjects) assert.deepEqual(await counted(store, subject), { succeeded: 20 })
  }),
]

export const ONE_CLOCK_STATISTICS = [
  lawCase("A counter is added to the bucket of the instant `agoMs` before the store's now", async (store) => {
    const before = await store.now()
    await beat(
      store,
      aBatch(1, anAddition({ subject: "now" }), anAddition({ subject: "then", agoMs: 3 * HOUR })),
    )
    const after = await store.now()
    const bucketsOf = async (subject: string) =>
      (await store.summarise({ subject, spanMs: HOUR, from: 0, until: FAR, limit: 10 })).map(({ at }) => at)

    const [now, ...more] = await bucketsOf("now")
    assert.deepEqual(more, [])
    assert.ok([bucketAt(before, HOUR), bucketAt(after, HOUR)].includes(now!), "the current hour")
    assert.deepEqual(await bucketsOf("then"), [now! - 3 * HOUR])
  }),
  lawCase("Statistics are deleted after their `keptMs`", async (store, lab) => {
    const short = { ms: SHORT_MS, keptMs: SHORT_MS }
    await beat(store, aBatch(1, anAddition({ spans: [short, HOURS] })))
    await lab.pass(4 * SHORT_MS)
    await store.prune(aPruning())

    assert.deepEqual(await counted(store, "all", SHORT_MS), {})
    assert.deepEqual(await counted(store), { succeeded: 1 })
  }),
  lawCase("A worker's `expectedBy` is its last heartbeat plus `nextInMs`", async (store) => {
    const before = await store.now()
    await store.heartbeat(aHeartbeat({ nextInMs: 12_345 }))
    const [worker] = await store.findWorkers({ afterId: null, limit: 1 })

    assert.equal(worker!.expectedBy, worker!.heartbeatAt + 12_345)
    assert.ok(worker!.heartbeatAt >= before)
    await store.heartbeat(aHeartbeat({ nextInMs: 99 }))
    const [again] = await store.findWorkers({ afterId: null, limit: 1 })
    assert.equal(again!.expectedBy, again!.heartbeatAt + 99)
  }),
]

export const REPEATABLE_STATISTICS = [
  lawCase("A batch that is sent twice is added once", async (store) => {
    const [first, second] = [aBatch(1, anAddition()), aBatch(2, anAddition({ counters: { failed: 1 } }))]
    for (const batch of [first, first, second, first, second]) assert.equal(await beat(store, batch), true)
    assert.equal(await beat(store, { statistics: null }), true)

    assert.deepEqual(await counted(store), { succeeded: 1, failed: 1 })
  }),
  lawCase("A leaving worker's batch that is sent twice is added once", async (store) => {
    await beat(store, {})
    const lastBeat = { isLeaving: true, ...aBatch(1, anAddition()) }
    await beat(store, lastBeat)
    await beat(store, lastBeat)

    assert.deepEqual(await counted(store), { succeeded: 1 })
  }),
]

export const BOUNDED_STATISTICS = [
  lawCase("Buckets are returned oldest first, within their bounds, up to the limit", async (store) => {
    const hours = [5, 1, 3]
    await beat(
      store,
      aBatch(1, ...hours.map((hour) => anAddition({ agoMs: hour * HOUR, counters: { n: hour } }))),
    )
    const summarise = (over: object) =>
      store.summarise({ subject: "all", spanMs: HOUR, from: 0, until: FAR, limit: 10, ...over })
    const all = await summarise({})
    const seen = (buckets: readonly { counters: Counters }[]) => buckets.map(({ counters }) => counters["n"])

    assert.deepEqual(seen(all), [5, 3, 1])
    assert.deepEqual(seen(await summarise({ limit: 2 })), [5, 3])
    assert.deepEqual(seen(await summarise({ from: all[1]!.at })), [3, 1])
    assert.deepEqual(seen(await summarise({ until: all[1]!.at })), [5])
    assert.deepEqual(seen(await summarise({ from: all[0]!.at + 1, until: all[1]!.at })), [])
  }),
]
