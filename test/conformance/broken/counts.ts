import type { Counts, Store } from "../../../src/store/store.ts"
import { broken } from "./breaking.ts"

type CountsOf = keyof Counts

/** Changes the counts of runs, or of schedules. */
function changed(
  of: CountsOf,
  change: (counts: Record<string, number>, store: Store) => Record<string, number>,
): (store: Store) => Partial<Store> {
  return (store) => ({
    async count(request) {
      const counts = await store.count(request)
      return { ...counts, [of]: change(counts[of], store) } as Counts
    },
  })
}

const EACH: readonly CountsOf[] = ["runs", "schedules"]

/** Counts that are too high, too low, or of other records. */
export const BROKEN_COUNTS = [
  ...EACH.map((of) =>
    broken(9, `a count of ${of} ignores the filter`, (store) => ({
      count: (request) => store.count(request[of] === undefined ? request : { ...request, [of]: {} }),
    })),
  ),
  ...EACH.map((of) =>
    broken(9, `${of} are counted without a filter for ${of}`, (store) => ({
      count: (request) => store.count({ [of]: {}, ...request }),
    })),
  ),
  ...EACH.map((of) =>
    broken(
      9,
      `a count of ${of} leaves out states with a count of 0`,
      changed(of, (counts) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))),
    ),
  ),
  ...EACH.map((of) =>
    broken(9, `a count of ${of} ignores the limit`, (store) => ({
      count: (request) => store.count({ ...request, limit: 1_000 }),
    })),
  ),
  ...EACH.map((of) =>
    broken(9, `a count of ${of} has one limit for all states`, (store) => ({
      async count(request) {
        const counts = await store.count(request)
        let left = request.limit
        const cut = Object.entries(counts[of]).map(([state, count]) => {
          const kept = Math.min(count, left)
          left -= kept
          return [state, kept]
        })
        return { ...counts, [of]: Object.fromEntries(cut) }
      },
    })),
  ),
  broken(9, "an empty list of states counts all runs", (store) => ({
    count: ({ runs, ...request }) =>
      store.count({
        ...request,
        ...(runs === undefined ? {} : { runs: runs.states?.length === 0 ? {} : runs }),
      }),
  })),
  broken(
    9,
    "skips are not counted",
    changed("runs", (counts) => ({ ...counts, skipped: 0 })),
  ),
  broken(
    9,
    "paused schedules count as ok",
    changed("schedules", ({ paused = 0, ok = 0, ...counts }) => ({
      ...counts,
      paused: 0,
      ok: ok + paused,
    })),
  ),
]
