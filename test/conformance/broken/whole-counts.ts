import type { Schedule } from "belfry/store"
import { NO_RUNS } from "../../../src/core/schedule.ts"
import { broken, findSchedule, roundTrip, showing } from "./breaking.ts"

const more = (schedule: Schedule, count: number): Schedule => ({
  ...schedule,
  runCount: schedule.runCount + count,
})

export const BROKEN_WHOLE_COUNTS = [
  broken(1, "runs that are enqueued aren't counted", (store) => {
    let uncounted = 0
    return {
      ...showing(store, (schedule) => more(schedule, -uncounted)),
      async enqueue(runs) {
        const answers = await store.enqueue(runs)
        const created = runs.filter((_, index) => answers[index]!.outcome === "created")
        uncounted += created.filter((run) => run.state === "pending").length
        return answers
      },
    }
  }),
  broken(1, "runs that are fired aren't counted", (store) => ({
    async fire(plans) {
      const answers = await store.fire(plans)
      Object.assign(
        this,
        showing(store, (schedule) => more(schedule, -1)),
      )
      return answers
    },
  })),
  broken(1, "records of what didn't run are counted", (store) => {
    let skips = 0
    return {
      ...showing(store, (schedule) => more(schedule, skips)),
      enqueue(runs) {
        skips += runs.filter((run) => run.state === "skipped").length
        return store.enqueue(runs)
      },
    }
  }),
  broken(1, "runs that are there already are counted again", (store) => {
    let again = 0
    return {
      ...showing(store, (schedule) => more(schedule, again)),
      async enqueue(runs) {
        const answers = await store.enqueue(runs)
        again += answers.filter(({ outcome }) => outcome !== "created").length
        return answers
      },
    }
  }),
  broken(1, "a run that a plan finds there is counted again", (store) => {
    let again = 0
    return {
      ...showing(store, (schedule) => more(schedule, again)),
      async fire(plans) {
        const answers = await store.fire(plans)
        answers.forEach((answer, index) => {
          if (answer.outcome === "done") again += plans[index]!.runs.length - answer.created.length
        })
        return answers
      },
    }
  }),
  broken(1, "the last run of a plan is its schedule's last, though it was there before", (store) => ({
    async fire(plans) {
      const answers = await store.fire(plans)
      const last = plans[0]?.runs.at(-1)?.id ?? null
      const isDone = answers[0]?.outcome === "done" && answers[0].created.length > 0
      const change = (schedule: Schedule) => (isDone ? { ...schedule, lastRunId: last } : schedule)
      Object.assign(this, showing(store, change))
      return answers
    },
  })),
  broken(1, "the last run is the first", (store) => {
    let first: string | null = null
    return {
      ...showing(store, (schedule) => {
        first ??= schedule.lastRunId
        return { ...schedule, lastRunId: first }
      }),
    }
  }),
  broken(1, "when the last run was created is told by another clock", (store) =>
    showing(store, (schedule) => ({
      ...schedule,
      lastRunAt: schedule.lastRunAt === null ? null : schedule.lastRunAt - 60_000,
    })),
  ),
  broken(1, "to count a run is a new version", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      const schedule = await findSchedule(store, runs[0]?.scheduleId ?? "")
      if (schedule !== undefined) await store.putSchedule(schedule, schedule.version)
      return answers
    },
  })),
  broken(1, "an edit begins to count anew", (store) => {
    let isEdited = false
    return {
      ...showing(store, (schedule) => (isEdited ? { ...schedule, ...NO_RUNS } : schedule)),
      putSchedule(schedule, ifVersion) {
        isEdited ||= ifVersion !== null
        return store.putSchedule(schedule, ifVersion)
      },
    }
  }),
  broken(1, "a schedule that is made again goes on counting", (store) => {
    let before = 0
    return {
      ...showing(store, (schedule) => more(schedule, before)),
      async fire(plans) {
        for (const { scheduleId, progress } of plans)
          if (progress === null) before = (await findSchedule(store, scheduleId))?.runCount ?? 0
        return store.fire(plans)
      },
    }
  }),
  broken(1, "a new schedule has the count that it says it has", (store) => {
    let said = 0
    return {
      ...showing(store, (schedule) => more(schedule, said)),
      putSchedule(schedule, ifVersion) {
        said = schedule.runCount
        return store.putSchedule(schedule, ifVersion)
      },
    }
  }),
  broken(1, "a run brings a schedule back that is gone", (store) => ({
    async enqueue(runs) {
      const id = runs[0]?.scheduleId ?? null
      const answers = await store.enqueue(runs)
      if (id !== null && (await findSchedule(store, id)) === undefined)
        Object.assign(this, { findSchedules: async () => [{ id } as Schedule] })
      return answers
    },
  })),
  broken(1, "runs of two callers at once are counted as one caller's", (store) => {
    let counted = 0
    return {
      ...showing(store, (schedule) => ({ ...schedule, runCount: counted })),
      async enqueue(runs) {
        const before = counted
        await roundTrip()
        counted = before + runs.filter((run) => run.state === "pending").length
        return store.enqueue(runs)
      },
    }
  }),
]
