import type { RunChange, Schedule, Store } from "belfry/store"
import { NO_RUNS } from "../../../src/core/schedule/schedule.ts"
import { afterEnd, isEnd } from "../../../src/core/schedule/schedule-tally.ts"
import { broken, findSchedule, roundTrip, showing } from "./breaking.ts"

/** Replaces the recorded ends of a sound store. */
function keeping(
  store: Store,
  keep: (ends: Ends, change: RunChange, schedule: Schedule) => void,
): Pick<Store, "findSchedules" | "transition"> {
  const ends: Ends = new Map()
  return {
    ...showing(store, (schedule) => ({ ...schedule, ...endsOf(ends.get(schedule.id) ?? NO_RUNS) })),
    async transition(changes) {
      const answers = await store.transition(changes)
      for (const [index, change] of changes.entries()) {
        if (answers[index]!.outcome !== "done") continue
        const [run] = await store.readRuns([change.runId])
        const schedule = run?.scheduleId == null ? undefined : await findSchedule(store, run.scheduleId)
        if (schedule !== undefined) keep(ends, change, schedule)
      }
      return answers
    },
  }
}

type Ends = Map<string, Schedule>

function endsOf(tally: Pick<Schedule, "lastState" | "lastEndedAt" | "lastSuccessAt" | "failuresInARow">) {
  const { lastState, lastEndedAt, lastSuccessAt, failuresInARow } = tally
  return { lastState, lastEndedAt, lastSuccessAt, failuresInARow }
}

function recordEnd(ends: Ends, { state }: RunChange, schedule: Schedule): void {
  if (!isEnd(state)) return
  const before = ends.get(schedule.id) ?? { ...schedule, ...NO_RUNS }
  ends.set(schedule.id, afterEnd(before, state, schedule.lastEndedAt!))
}

export const BROKEN_WHOLE_ENDS = [
  broken(1, "ends aren't recorded", (store) =>
    showing(store, (schedule) => ({ ...schedule, ...endsOf(NO_RUNS) })),
  ),
  broken(1, "only the first failure is counted", (store) =>
    showing(store, (schedule) => ({ ...schedule, failuresInARow: Math.min(1, schedule.failuresInARow) })),
  ),
  broken(1, "a success doesn't reset the failures in a row", (store) =>
    keeping(store, (ends, change, schedule) => {
      const before = ends.get(schedule.id)?.failuresInARow ?? 0
      recordEnd(ends, change, schedule)
      const after = ends.get(schedule.id)!
      if (change.state === "succeeded") ends.set(schedule.id, { ...after, failuresInARow: before })
    }),
  ),
  broken(1, "a cancelled run resets the failures in a row", (store) =>
    keeping(store, (ends, change, schedule) => {
      recordEnd(ends, change, schedule)
      const after = ends.get(schedule.id)!
      if (change.state === "cancelled") ends.set(schedule.id, { ...after, failuresInARow: 0 })
    }),
  ),
  broken(1, "a cancelled run isn't recorded as an end", (store) =>
    keeping(store, (ends, change, schedule) => {
      if (change.state !== "cancelled") recordEnd(ends, change, schedule)
    }),
  ),
  broken(1, "a failed attempt that will be retried is recorded as an end", (store) =>
    keeping(store, (ends, change, schedule) =>
      recordEnd(ends, change.state === "pending" ? { ...change, state: "failed" } : change, {
        ...schedule,
        lastEndedAt: schedule.lastEndedAt ?? 0,
      }),
    ),
  ),
  broken(1, "a stale end is counted", (store) => {
    let stale = 0
    return {
      ...showing(store, (schedule) => ({ ...schedule, failuresInARow: schedule.failuresInARow + stale })),
      async transition(changes) {
        const answers = await store.transition(changes)
        stale += answers.filter(({ outcome }) => outcome === "stale").length
        return answers
      },
    }
  }),
  broken(1, "`lastSuccessAt` is when the last run ended", (store) =>
    showing(store, (schedule) => ({
      ...schedule,
      lastSuccessAt: schedule.lastSuccessAt === null ? null : schedule.lastEndedAt,
    })),
  ),
  broken(1, "`lastEndedAt` is dated by another clock", (store) =>
    showing(store, (schedule) => ({
      ...schedule,
      lastEndedAt: schedule.lastEndedAt === null ? null : schedule.lastEndedAt - 60_000,
    })),
  ),
  broken(1, "runs that end in one call end in the order of their ids", (store) => ({
    async transition(changes) {
      const sorted = changes.toSorted((a, b) => (a.runId < b.runId ? -1 : 1))
      const answers = await store.transition(sorted)
      return changes.map((change) => answers[sorted.indexOf(change)]!)
    },
  })),
  broken(1, "the last run of a call counts as the last run of every schedule", (store) => {
    let last: RunChange | undefined
    return {
      ...showing(store, (schedule) => ({
        ...schedule,
        lastState: last !== undefined && isEnd(last.state) ? last.state : schedule.lastState,
      })),
      transition(changes) {
        if (changes.length > 1) last = changes.at(-1)
        return store.transition(changes)
      },
    }
  }),
  broken(1, "an end makes a new version", (store) => ({
    async transition(changes) {
      const answers = await store.transition(changes)
      const [run] = await store.readRuns([changes[0]?.runId ?? ""])
      const schedule = await findSchedule(store, run?.scheduleId ?? "")
      if (schedule !== undefined) await store.putSchedule(schedule, schedule.version)
      return answers
    },
  })),
  broken(1, "an edit resets the ends", (store) => {
    let isEdited = false
    return {
      ...showing(store, (schedule) => (isEdited ? { ...schedule, ...endsOf(NO_RUNS) } : schedule)),
      putSchedule(schedule, ifVersion) {
        isEdited ||= ifVersion !== null
        return store.putSchedule(schedule, ifVersion)
      },
    }
  }),
  broken(1, "pruning resets the ends", (store) => {
    let isPruned = false
    return {
      ...showing(store, (schedule) => (isPruned ? { ...schedule, ...endsOf(NO_RUNS) } : schedule)),
      prune(request) {
        isPruned = true
        return store.prune(request)
      },
    }
  }),
  broken(1, "a schedule that is created again keeps its old ends", (store) => {
    let before: Schedule | undefined
    return {
      ...showing(store, (schedule) => ({ ...schedule, ...endsOf(before ?? schedule) })),
      async fire(plans) {
        for (const { scheduleId, progress } of plans)
          if (progress === null) before = await findSchedule(store, scheduleId)
        return store.fire(plans)
      },
    }
  }),
  broken(1, "of ends that two callers report at once, only one caller's are counted", (store) => {
    const counts = new Map<string, number>()
    return {
      ...showing(store, (schedule) => ({
        ...schedule,
        failuresInARow: Math.min(schedule.failuresInARow, counts.get(schedule.id) ?? Infinity),
      })),
      async transition(changes) {
        const before = new Map(counts)
        await roundTrip()
        const answers = await store.transition(changes)
        for (const { runId, state } of changes) {
          const id = (await store.readRuns([runId]))[0]?.scheduleId ?? ""
          if (state === "failed") counts.set(id, (before.get(id) ?? 0) + 1)
        }
        return answers
      },
    }
  }),
]
