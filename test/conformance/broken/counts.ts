import { noScheduleCounts, type ScheduleCounts } from "../../../src/core/schedule/schedule-state.ts"
import type { Counts, Store } from "../../../src/store/store.ts"
import { broken } from "./breaking.ts"

type CountsOf = "runs" | "schedules"

/** Changes the counts by state of runs, or of schedules. */
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

/** Changes the counts by task. */
function changedTasks(change: (tasks: Counts["tasks"]) => Counts["tasks"]): (store: Store) => Partial<Store> {
  return (store) => ({
    async count(request) {
      const counts = await store.count(request)
      return { ...counts, tasks: change(counts.tasks) }
    },
  })
}

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
  broken(
    9,
    "schedules are not counted by task",
    changedTasks(() => []),
  ),
  broken(
    9,
    "the tasks of counted schedules are in no order",
    changedTasks((tasks) => tasks.toReversed()),
  ),
  broken(9, "the tasks of counted schedules ignore the limit", (store) => ({
    async count(request) {
      const { tasks } = await store.count({ ...request, limit: 1_000 })
      const upTo = (count: number) => Math.min(count, request.limit)
      const cut = tasks.map(({ task, schedules }) => ({ task, schedules: mapped(schedules, upTo) }))
      return { ...(await store.count(request)), tasks: cut }
    },
  })),
  broken(9, "the number of schedules of a task ignores the limit", (store) => ({
    async count(request) {
      const { tasks } = await store.count({ ...request, limit: 1_000 })
      return { ...(await store.count(request)), tasks: tasks.slice(0, request.limit) }
    },
  })),
  broken(9, "counts by task ignore the filter", (store) => ({
    async count(request) {
      const { tasks } = await store.count({ ...request, schedules: {} })
      return { ...(await store.count(request)), tasks: request.schedules === undefined ? [] : tasks }
    },
  })),
  broken(9, "counts by task do not tell the states apart", (store) => ({
    async count(request) {
      const counts = await store.count(request)
      const asOk = (schedules: ScheduleCounts) => ({
        ...noScheduleCounts(),
        ok: sum(Object.values(schedules)),
      })
      return {
        ...counts,
        tasks: counts.tasks.map(({ task, schedules }) => ({ task, schedules: asOk(schedules) })),
      }
    },
  })),
]

function mapped(counts: ScheduleCounts, change: (count: number) => number): ScheduleCounts {
  return Object.fromEntries(
    Object.entries(counts).map(([state, count]) => [state, change(count)]),
  ) as unknown as ScheduleCounts
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
