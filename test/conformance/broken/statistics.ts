import type { Heartbeat, StatisticsAddition, Store } from "belfry/store"
import { broken } from "./breaking.ts"

function adding(
  change: (addition: StatisticsAddition, index: number) => StatisticsAddition | null,
): (store: Store) => Partial<Store> {
  return (store) => ({
    heartbeat(beat) {
      if (beat.statistics === null) return store.heartbeat(beat)
      const additions = beat.statistics.additions.flatMap((each, index) => change(each, index) ?? [])
      return store.heartbeat({ ...beat, statistics: { ...beat.statistics, additions } })
    },
  })
}

/** Sends each batch as that of a new worker, so that the store can't see that it was sent before. */
function asAnother(store: Store, isAnother: (beat: Heartbeat) => boolean): Partial<Store> {
  let beats = 0
  return {
    async heartbeat(beat) {
      if (beat.statistics === null || !isAnother(beat)) return store.heartbeat(beat)
      const id = `${beat.worker.id} ${++beats}`
      const another = { ...beat, worker: { ...beat.worker, id }, held: [] }
      await store.heartbeat({ ...another, isLeaving: false, statistics: null })
      await store.heartbeat({ ...another, isLeaving: true })
      return store.heartbeat({ ...beat, statistics: null })
    },
  }
}

export const BROKEN_STATISTICS = [
  broken(1, "only the last addition of a batch to a bucket counts", (store) => ({
    heartbeat(beat) {
      if (beat.statistics === null) return store.heartbeat(beat)
      const additions = [...new Map(beat.statistics.additions.map((each) => [each.subject, each])).values()]
      return store.heartbeat({ ...beat, statistics: { ...beat.statistics, additions } })
    },
  })),
  broken(
    1,
    "subjects are compared without case",
    adding((addition) => ({
      ...addition,
      subject: addition.subject.toLowerCase(),
    })),
  ),
  broken(
    1,
    "only the first span is counted",
    adding((addition) => ({
      ...addition,
      spans: addition.spans.slice(0, 1),
    })),
  ),
  broken(
    1,
    "a counter has 32 bits",
    adding((addition) => ({
      ...addition,
      counters: Object.fromEntries(
        Object.entries(addition.counters).map(([name, count]) => [name, count | 0]),
      ),
    })),
  ),
  broken(
    1,
    "only names without a colon are counted",
    adding((addition) => ({
      ...addition,
      counters: Object.fromEntries(Object.entries(addition.counters).filter(([name]) => !name.includes(":"))),
    })),
  ),
  broken(1, "the statistics of a leaving worker are ignored", (store) => ({
    heartbeat: (beat) => store.heartbeat(beat.isLeaving ? { ...beat, statistics: null } : beat),
  })),
  broken(1, "only the first process that adds to a bucket is counted", (store) => {
    let first: string | null = null
    return {
      heartbeat(beat) {
        if (beat.statistics !== null) first ??= beat.worker.id
        return store.heartbeat(beat.worker.id === first ? beat : { ...beat, statistics: null })
      },
    }
  }),
  broken(
    2,
    "`agoMs` of an addition is ignored",
    adding((addition) => ({ ...addition, agoMs: 0 })),
  ),
  broken(
    2,
    "statistics are kept for ever",
    adding((addition) => ({
      ...addition,
      spans: addition.spans.map(({ ms }) => ({ ms, keptMs: 1e12 })),
    })),
  ),
  broken(
    2,
    "statistics of all spans are kept equally long",
    adding((addition) => ({
      ...addition,
      spans: addition.spans.map(({ ms }) => ({ ms, keptMs: addition.spans[0]!.keptMs - 3_600_000 })),
    })),
  ),
  broken(2, "`nextInMs` of the first heartbeat is kept for ever", (store) => {
    let sent: number | null = null
    return {
      heartbeat(beat) {
        sent ??= beat.nextInMs
        return store.heartbeat({ ...beat, nextInMs: sent })
      },
    }
  }),
  broken(2, "the next heartbeat is always expected within a minute", (store) => ({
    heartbeat: (beat) => store.heartbeat({ ...beat, nextInMs: 60_000 }),
  })),
  broken(8, "a batch that is sent again is added again", (store) => asAnother(store, () => true)),
  broken(8, "a leaving worker's batch that is sent again is added again", (store) =>
    asAnother(store, ({ isLeaving }) => isLeaving),
  ),
  broken(8, "a batch that was added before is answered as not added", (store) => {
    const seen = new Set<number>()
    return {
      async heartbeat(beat) {
        const answer = await store.heartbeat(beat)
        const number = beat.statistics?.number
        const areStatisticsIn = number === undefined || !seen.has(number)
        if (number !== undefined) seen.add(number)
        return { ...answer, areStatisticsIn }
      },
    }
  }),
  broken(9, "summarise has no limit", (store) => ({
    summarise: (request) => store.summarise({ ...request, limit: 10_000 }),
  })),
  broken(9, "summarise returns the newest bucket first", (store) => ({
    summarise: async (request) => (await store.summarise(request)).toReversed(),
  })),
  broken(9, "summarise includes its `until`", (store) => ({
    summarise: (request) => store.summarise({ ...request, until: request.until + 1 }),
  })),
  broken(9, "summarise excludes its `from`", (store) => ({
    summarise: (request) => store.summarise({ ...request, from: request.from + 1 }),
  })),
]
