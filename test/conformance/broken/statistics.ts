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

/** Another batch of another worker each time: the store can't tell that it was sent before. */
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
  broken(1, "of one batch the last addition to a bucket counts", (store) => ({
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
  broken(1, "who leaves hands nothing over", (store) => ({
    heartbeat: (beat) => store.heartbeat(beat.isLeaving ? { ...beat, statistics: null } : beat),
  })),
  broken(1, "the second process to count in a bucket is forgotten", (store) => {
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
    "what was counted before counts for now",
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
  broken(2, "the first heartbeat says for good when the next is expected", (store) => {
    let said: number | null = null
    return {
      heartbeat(beat) {
        said ??= beat.nextInMs
        return store.heartbeat({ ...beat, nextInMs: said })
      },
    }
  }),
  broken(2, "every process is expected within a minute", (store) => ({
    heartbeat: (beat) => store.heartbeat({ ...beat, nextInMs: 60_000 }),
  })),
  broken(8, "a batch that is sent again is added again", (store) => asAnother(store, () => true)),
  broken(8, "a goodbye that is sent again adds again", (store) =>
    asAnother(store, ({ isLeaving }) => isLeaving),
  ),
  broken(8, "a batch that was added before seems not to be", (store) => {
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
  broken(9, "statistics know no limit", (store) => ({
    summarise: (request) => store.summarise({ ...request, limit: 10_000 }),
  })),
  broken(9, "statistics come newest first", (store) => ({
    summarise: async (request) => (await store.summarise(request)).toReversed(),
  })),
  broken(9, "the end of a range of statistics is within", (store) => ({
    summarise: (request) => store.summarise({ ...request, until: request.until + 1 }),
  })),
  broken(9, "the beginning of a range of statistics is not within", (store) => ({
    summarise: (request) => store.summarise({ ...request, from: request.from + 1 }),
  })),
]
