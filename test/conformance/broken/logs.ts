import type { LogLine, LogPage, Store, StoredLogLine } from "belfry/store"
import { broken, findRun } from "./breaking.ts"

type Kept = StoredLogLine & { readonly runId: string }

/** How a log is broken. A member that isn't given is correct. */
interface LogTable {
  /** Lines with the same identity are one line. */
  identity?(line: LogLine | Kept): string
  /** Which of two lines with one identity stays. */
  stays?: "first" | "last" | "both"
  order?(a: Kept, b: Kept): number
  isAfter?(line: Kept, after: NonNullable<LogPage["after"]>): boolean
}

const PLACE = (line: LogLine | Kept) => `${line.runId} ${line.attempt} ${line.number}`

/** Replaces the log of a sound store. */
function loggedBy(store: Store, table: LogTable): Partial<Store> {
  const { identity = PLACE, stays = "first" } = table
  const { order = (a: Kept, b: Kept) => a.attempt - b.attempt || a.number - b.number } = table
  const { isAfter = (line, { attempt, number }) => order(line, { ...line, attempt, number }) > 0 } = table
  let kept: Kept[] = []
  return {
    async appendLogs(lines) {
      const now = await store.now()
      for (const line of lines) {
        if (!(await findRun(store, line.runId))) continue
        const { agoMs, ...rest } = line
        const isSame = (other: Kept) => identity(other) === identity(line)
        if (stays === "first" && kept.some(isSame)) continue
        if (stays === "last") kept = kept.filter((other) => !isSame(other))
        kept.push({ ...rest, at: now - agoMs })
      }
    },
    async readLogs({ runId, after, limit }) {
      await store.now()
      const own = kept.filter((line) => line.runId === runId).sort(order)
      const page = own.filter((line) => after === null || isAfter(line, after)).slice(0, limit)
      return page.map(({ runId: _, ...line }) => line)
    },
  }
}

export const BROKEN_LOG_ORDER = [
  broken(1, "log lines are in the order of arrival", (store) => loggedBy(store, { order: () => 0 })),
  broken(1, "log lines are ordered by number, then by attempt", (store) =>
    loggedBy(store, { order: (a, b) => a.number - b.number || a.attempt - b.attempt }),
  ),
  broken(1, "numbers of log lines are compared as text", (store) =>
    loggedBy(store, {
      order: (a, b) => a.attempt - b.attempt || (String(a.number) < String(b.number) ? -1 : 1),
    }),
  ),
  broken(1, "attempts of log lines are compared as text", (store) =>
    loggedBy(store, {
      order: (a, b) =>
        a.attempt === b.attempt ? a.number - b.number : String(a.attempt) < String(b.attempt) ? -1 : 1,
    }),
  ),
]

export const BROKEN_LOG_IDENTITY = [
  broken(8, "a log line that is sent again is stored again", (store) => loggedBy(store, { stays: "both" })),
  broken(8, "a log line that is sent again replaces the first", (store) =>
    loggedBy(store, { stays: "last" }),
  ),
  broken(8, "log lines are identified by run and number only", (store) =>
    loggedBy(store, { identity: ({ runId, number }) => `${runId} ${number}` }),
  ),
  broken(8, "log lines are identified by attempt and number only", (store) =>
    loggedBy(store, { identity: ({ attempt, number }) => `${attempt} ${number}` }),
  ),
  broken(8, "log lines with the same message are stored once", (store) =>
    loggedBy(store, { identity: ({ runId, message }) => `${runId} ${message}` }),
  ),
  broken(8, "one stored log line makes the store drop the others of its call", (store) => ({
    async appendLogs(lines) {
      for (const { runId, attempt, number } of lines) {
        const after = { attempt, number: number - 1 }
        const [next] = await store.readLogs({ runId, after, limit: 1 })
        if (next?.attempt === attempt && next.number === number) return
      }
      return store.appendLogs(lines)
    },
  })),
  broken(8, "a log line is dropped if a later one is stored", (store) => ({
    async appendLogs(lines) {
      const isNew = await Promise.all(
        lines.map(async ({ runId, attempt, number }) => {
          const after = { attempt, number: number - 1 }
          return (await store.readLogs({ runId, after, limit: 1 })).length === 0
        }),
      )
      return store.appendLogs(lines.filter((_, index) => isNew[index]))
    },
  })),
  broken(8, "a log line that several callers send at once is stored by each of them", (store) => {
    let calls = 0
    const unsafe = loggedBy(store, { stays: "both" })
    const safe = loggedBy(store, {})
    let isRaced = false
    return {
      async appendLogs(lines) {
        isRaced ||= ++calls > 1
        await safe.appendLogs!(lines)
        await unsafe.appendLogs!(lines)
        calls--
      },
      readLogs: (page) => (isRaced ? unsafe : safe).readLogs!(page),
    }
  }),
]

export const BROKEN_LOG_PAGES = [
  broken(9, "readLogs has no limit", (store) => ({
    readLogs: (page) => store.readLogs({ ...page, limit: 1_000 }),
  })),
  broken(9, "readLogs includes the line of the cursor", (store) => ({
    readLogs: (page) =>
      store.readLogs({ ...page, after: page.after && { ...page.after, number: page.after.number - 1 } }),
  })),
  broken(9, "readLogs returns only lines with a higher attempt and a higher number", (store) =>
    loggedBy(store, { isAfter: (line, after) => line.attempt > after.attempt && line.number > after.number }),
  ),
  broken(9, "readLogs ends with the attempt of the cursor", (store) =>
    loggedBy(store, {
      isAfter: (line, after) => line.attempt === after.attempt && line.number > after.number,
    }),
  ),
  broken(9, "readLogs compares numbers alone", (store) =>
    loggedBy(store, { isAfter: (line, after) => line.number > after.number }),
  ),
  broken(9, "readLogs needs the line of the cursor to be stored", (store) => ({
    async readLogs({ runId, after, limit }) {
      const lines = await store.readLogs({ runId, after: null, limit: 1_000 })
      const seen = lines.findIndex((line) => line.attempt === after?.attempt && line.number === after.number)
      return lines.slice(seen + 1, seen + 1 + limit)
    },
  })),
]
