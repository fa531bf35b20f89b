import type { RunChange, Schedule, Store } from "belfry/store"
import { NO_RUNS } from "../../../src/core/schedule.ts"
import { afterEnd, isEnd } from "../../../src/core/schedule-tally.ts"
import { broken, findSchedule, roundTrip, showing } from "./breaking.ts"

/** Ends are kept beside a sound store, in this way. */
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

function noteEnd(ends: Ends, { state }: RunChange, schedule: Schedule): void {
  if (!isEnd(state)) return
  const before = ends.get(schedule.id) ?? { ...schedule, ...NO_RUNS }
  ends.set(schedule.id, afterEnd(before, state, schedule.lastEndedAt!))
}

export const BROKEN_WHOLE_ENDS = [
  broken(1, "an end isn't kept", (store) =>
    showing(store, (schedule) => ({ ...schedule, ...endsOf(NO_RUNS) })),
  ),
  broken(1, "a failure isn't counted", (store) =>
    showing(store, (schedule) => ({ ...schedule, failuresInARow: Math.min(1, schedule.failuresInARow) })),
  ),
  broken(1, "a success leaves the failures before it", (store) =>
    keeping(store, (ends, change, schedule) => {
      const before = ends.get(schedule.id)?.failuresInARow ?? 0
      noteEnd(ends, change, schedule)
      const after = ends.get(schedule.id)!
      if (change.state === "succeeded") ends.set(schedule.id, { ...after, failuresInARow: before })
    }),
  ),
  broken(1, "a cancelled run ends a row of failures", (store) =>
    keeping(store, (ends, change, schedule) => {
      noteEnd(ends, change, schedule)
      const after = ends.get(schedule.id)!
      if (change.state === "cancelled") ends.set(schedule.id, { ...after, failuresInARow: 0 })
    }),
  ),
  broken(1, "a cancelled run is no end", (store) =>
    keeping(store, (ends, change, schedule) => {
      if (change.state !== "cancelled") noteEnd(ends, change, schedule)
    }),
  ),
  broken(1, "an attempt that fails and is tried again is an end", (store) =>
    keeping(store, (ends, change, schedule) =>
      noteEnd(ends, change.state === "pending" ? { ...change, state: "failed" } : change, {
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
  broken(1, "a success is when the last run ended", (store) =>
    showing(store, (schedule) => ({
      ...schedule,
      lastSuccessAt: schedule.lastSuccessAt === null ? null : schedule.lastEndedAt,
    })),
  ),
  broken(1, "an end is told by another clock", (store) =>
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
  broken(1, "of runs that end in one call the last of all is every schedule's", (store) => {
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
  broken(1, "an end is a new version", (store) => ({
    async transition(changes) {
      const answers = await store.transition(changes)
      const [run] = await store.readRuns([changes[0]?.runId ?? ""])
      const schedule = await findSchedule(store, run?.scheduleId ?? "")
      if (schedule !== undefined) await store.putSchedule(schedule, schedule.version)
      return answers
    },
  })),
  broken(1, "an edit forgets the ends", (store) => {
    let isEdited = false
    return {
      ...showing(store, (schedule) => (isEdited ? { ...schedule, ...endsOf(NO_RUNS) } : schedule)),
      putSchedule(schedule, ifVersion) {
        isEdited ||= ifVersion !== null
        return store.putSchedule(schedule, ifVersion)
      },
    }
  }),
  broken(1, "pruning forgets the ends", (store) => {
    let isPruned = false
    return {
      ...showing(store, (schedule) => (isPruned ? { ...schedule, ...endsOf(NO_RUNS) } : schedule)),
      prune(request) {
        isPruned = true
        return store.prune(request)
      },
    }
  }),
  broken(1, "a schedule that is made again has the ends of the one before", (store) => {
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
  broken(1, "a new schedule has the ends that it says it has", (store) => {
    let said: Schedule | undefined
    return {
      ...showing(store, (schedule) =>
        said?.lastState == null ? schedule : { ...schedule, ...endsOf(said) },
      ),
      putSchedule(schedule, ifVersion) {
        said = schedule
        return store.putSchedule(schedule, ifVersion)
      },
    }
  }),
  broken(1, "ends of two callers at once are counted as one caller's", (store) => {
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
