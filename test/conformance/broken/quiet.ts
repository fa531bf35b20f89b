import type { LogLine, Store } from "belfry/store"
import { broken, findRun, roundTrip } from "./breaking.ts"

export const BROKEN_QUIET = [
  broken(10, "a stale plan is an exception", (store) => ({
    async fire(plans) {
      const answers = await store.fire(plans)
      if (answers.some((answer) => answer.outcome === "stale")) throw new Error("version conflict")
      return answers
    },
  })),
  broken(10, "a stale put is an exception", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const answer = await store.putSchedule(schedule, ifVersion)
      if (answer.outcome === "stale") throw new Error("duplicate key value violates unique constraint")
      return answer
    },
  })),
  broken(10, "deleting a schedule that isn't stored is an exception", (store) => ({
    async fire(plans) {
      const answers = await store.fire(plans)
      const isStale = plans.some(
        ({ progress }, index) => progress === null && answers[index]!.outcome === "stale",
      )
      if (isStale) throw new Error("no such schedule")
      return answers
    },
  })),
  broken(10, "an empty list is an exception", (store) => ({
    async enqueue(runs) {
      if (runs.length === 0) throw new Error("ER_PARSE_ERROR near 'values'")
      return store.enqueue(runs)
    },
  })),
  broken(10, "a claim without tasks gives runs of all tasks", (store) => ({
    claim: (request) =>
      store.claim({
        ...request,
        tasks: request.tasks.length === 0 ? [{ name: "report", leaseMs: 1_000 }] : request.tasks,
      }),
  })),
  broken(10, "a claim with a limit of 0 gives one run", (store) => ({
    claim: (request) => store.claim({ ...request, limit: Math.max(1, request.limit) }),
  })),
  broken(10, "a log line without its run violates a foreign key", (store) => ({
    async appendLogs(lines) {
      for (const { runId } of lines) {
        if (!(await findRun(store, runId))) throw new Error("violates foreign key constraint")
      }
      return store.appendLogs(lines)
    },
  })),
  broken(10, "one log line without its run makes the store drop the others", (store) => ({
    async appendLogs(lines) {
      for (const { runId } of lines) if (!(await findRun(store, runId))) return
      return store.appendLogs(lines)
    },
  })),
  broken(10, "log lines of a run that isn't stored are kept until it is", (store) => {
    const waiting: LogLine[] = []
    return {
      async appendLogs(lines) {
        for (const line of lines) if (!(await findRun(store, line.runId))) waiting.push(line)
        return store.appendLogs(lines)
      },
      async enqueue(runs) {
        const answers = await store.enqueue(runs)
        await store.appendLogs(waiting)
        return answers
      },
    }
  }),
  broken(10, "fires at the same time can't be serialized", (store) => ({ fire: unserializable(store.fire) })),
  broken(10, "claims at the same time can't be serialized", (store) => ({
    claim: unserializable(store.claim),
  })),
  broken(10, "batches in different orders deadlock", (store) => ({
    transition: unserializable(store.transition),
  })),
  ...(["now", "open", "findRuns", "enqueue", "listen", "readLogs"] as const).map((operation) =>
    broken(10, `${operation} works after the store was closed`, (store) => ({
      [operation]: async (...given: unknown[]) => {
        const call = store[operation] as (...given: unknown[]) => Promise<unknown>
        return call(...given).catch((error) => {
          if ((error as { code?: string }).code !== "BELFRY_STORE_CLOSED") throw error
        })
      },
    })),
  ),
]

/** What a database does at the isolation level `serializable`, if the store doesn't retry. */
function unserializable<T extends Store["fire"] | Store["claim"] | Store["transition"]>(operation: T): T {
  let underWay = 0
  const guarded = async (argument: never) => {
    if (underWay > 0) throw new Error("could not serialize access due to concurrent update")
    underWay++
    try {
      await roundTrip()
      return await operation(argument)
    } finally {
      underWay--
    }
  }
  return guarded as T
}
