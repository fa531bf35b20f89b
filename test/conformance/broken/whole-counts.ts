import type { Schedule } from "belfry/store"
import { NO_RUNS } from "../../../src/core/schedule/schedule.ts"
import { broken, findSchedule, roundTrip, showing } from "./breaking.ts"

const more = (schedule: Schedule, count: number): Schedule => ({
  ...schedule,
  runCount: schedule.runCount + count,
})

export const BROKEN_WHOLE_COUNTS = [
  broken(1, "enqueued runs aren't counted", (store) => {
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
  broken(1, "fired runs aren't counted", (store) => ({
    async fire(plans) {
      const answers = await store.fire(plans)
      Object.assign(
        this,
        showing(store, (schedule) => more(schedule, -1)),
      )
      return answers
    },
  })),
  broken(1, "skips are counted as runs", (store) => {
    let skips = 0
    return {
      ...showing(store, (schedule) => more(schedule, skips)),
      enqueue(runs) {
        skips += runs.filter((run) => run.state === "skipped").length
        return store.enqueue(runs)
      },
    }
  }),
  broken(1, "runs that exist already are counted again by an enqueue", (store) => {
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
  broken(1, "runs that exist already are counted again by a fire", (store) => {
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
  broken(
    1,
    "the last run of a plan becomes its schedule's last run, even if it existed already",
    (store) => ({
      async fire(plans) {
        const answers = await store.fire(plans)
        const last = plans[0]?.runs.at(-1)?.id ?? null
        const isDone = answers[0]?.outcome === "done" && answers[0].created.length > 0
        const change = (schedule: Schedule) => (isDone ? { ...schedule, lastRunId: last } : schedule)
        Object.assign(this, showing(store, change))
        return answers
      },
    }),
  ),
  broken(1, "the last run of a schedule stays its first run", (store) => {
    let first: string | null = null
    return {
      ...showing(store, (schedule) => {
        first ??= schedule.lastRunId
        return { ...schedule, lastRunId: first }
      }),
    }
  }),
  broken(1, "`lastRunAt` is dated by another clock", (store) =>
    showing(store, (schedule) => ({
      ...schedule,
      lastRunAt: schedule.lastRunAt === null ? null : schedule.lastRunAt - 60_000,
    })),
  ),
  broken(1, "counting a run makes a new version", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      const schedule = await findSchedule(store, runs[0]?.scheduleId ?? "")
      if (schedule !== undefined) await store.putSchedule(schedule, schedule.version)
      return answers
    },
  })),
  broken(1, "an edit resets the count", (store) => {
    let isEdited = false
    return {
      ...showing(store, (schedule) => (isEdited ? { ...schedule, ...NO_RUNS } : schedule)),
      putSchedule(schedule, ifVersion) {
        isEdited ||= ifVersion !== null
        return store.putSchedule(schedule, ifVersion)
      },
    }
  }),
  broken(1, "a schedule that is created again keeps its old count", (store) => {
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
  broken(1, "a run creates its deleted schedule again", (store) => ({
    async enqueue(runs) {
      const id = runs[0]?.scheduleId ?? null
      const answers = await store.enqueue(runs)
      if (id !== null && (await findSchedule(store, id)) === undefined)
        Object.assign(this, { findSchedules: async () => [{ id } as Schedule] })
      return answers
    },
  })),
  broken(1, "of runs that two callers create at once, only one caller's are counted", (store) => {
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
