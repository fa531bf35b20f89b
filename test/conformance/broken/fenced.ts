import type { Schedule, Store } from "belfry/store"
import { broken, each, findRun, findSchedule, roundTrip } from "./breaking.ts"
import { BROKEN_HEARTBEATS } from "./fenced-heartbeats.ts"

const versions = [
  broken(3, "a put replaces a schedule of any version", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const existing = await findSchedule(store, schedule.id)
      return store.putSchedule(schedule, ifVersion === null ? null : (existing?.version ?? null))
    },
  })),
  broken(3, "a put of a new schedule overwrites an existing one", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const existing = await findSchedule(store, schedule.id)
      return store.putSchedule(schedule, ifVersion ?? existing?.version ?? null)
    },
  })),
  broken(3, "a put with a version creates a schedule that isn't stored", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const existing = await findSchedule(store, schedule.id)
      return store.putSchedule(schedule, existing === undefined ? null : ifVersion)
    },
  })),
  broken(3, "a put answers the version that it replaced", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const answer = await store.putSchedule(schedule, ifVersion)
      return answer.outcome === "done" ? { ...answer, version: ifVersion ?? 0 } : answer
    },
  })),
  broken(3, "a fire doesn't change the version", (store) => {
    const put = new Map<string, number>()
    return {
      async putSchedule(schedule, ifVersion) {
        const answer = await store.putSchedule(schedule, ifVersion)
        if (answer.outcome === "done") put.set(schedule.id, answer.version)
        return answer
      },
      findSchedules: async (filter, page) =>
        (await store.findSchedules(filter, page)).map((schedule) => ({
          ...schedule,
          version: put.get(schedule.id)!,
        })),
    }
  }),
  broken(3, "a delete removes a schedule of any version", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const existing = plan.progress === null ? await findSchedule(store, plan.scheduleId) : undefined
        return (await store.fire([{ ...plan, ifVersion: existing?.version ?? plan.ifVersion }]))[0]!
      }),
  })),
  broken(3, "versions start again when a schedule is created again", restartingVersions),
  broken(3, "a put checks the version, then writes", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const checked = await findSchedule(store, schedule.id)
      if ((checked?.version ?? null) !== ifVersion) return { outcome: "stale" }
      await roundTrip()
      const existing = await findSchedule(store, schedule.id)
      return store.putSchedule(schedule, existing?.version ?? null)
    },
  })),
  broken(3, "a delete checks the version, then writes", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        if (plan.progress !== null) return (await store.fire([plan]))[0]!
        if ((await findSchedule(store, plan.scheduleId))?.version !== plan.ifVersion)
          return { outcome: "stale" }
        await roundTrip()
        return { outcome: "done", created: [] }
      }),
  })),
]

/** Each schedule's versions count from 1, as a column `version + 1` does. */
function restartingVersions(store: Store): Partial<Store> {
  const shown = new Map<string, { real: number; version: number }>()
  const real = (id: string, version: number) =>
    shown.get(id)?.version === version ? shown.get(id)!.real : -1
  const risen = async (id: string) => {
    const existing = await findSchedule(store, id)
    if (existing === undefined) shown.delete(id)
    else shown.set(id, { real: existing.version, version: (shown.get(id)?.version ?? 0) + 1 })
    return shown.get(id)?.version ?? 0
  }
  const show = (schedule: Schedule) => ({ ...schedule, version: shown.get(schedule.id)!.version })
  return {
    async putSchedule(schedule, ifVersion) {
      const answer = await store.putSchedule(
        schedule,
        ifVersion === null ? null : real(schedule.id, ifVersion),
      )
      return answer.outcome === "done" ? { ...answer, version: await risen(schedule.id) } : answer
    },
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([{ ...plan, ifVersion: real(plan.scheduleId, plan.ifVersion) }])
        if (answer!.outcome === "done") await risen(plan.scheduleId)
        return answer!
      }),
    findSchedules: async (filter, page) => (await store.findSchedules(filter, page)).map(show),
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return {
        ...answer,
        due: answer.due.map(({ schedule, facts }) => ({ schedule: show(schedule), facts })),
      }
    },
  }
}

const steps = [
  broken(3, "changes are fenced by state only", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        return (await store.transition([{ ...change, ifAttempt: run?.attempt ?? 0 }]))[0]!
      }),
  })),
  broken(3, "changes are fenced by attempt only", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        return (await store.transition([{ ...change, ifState: run?.state ?? "pending" }]))[0]!
      }),
  })),
  broken(3, "a stale answer lacks the run's state and attempt", (store) => ({
    transition: async (changes) =>
      (await store.transition(changes)).map((answer) =>
        answer.outcome === "stale" ? { outcome: "stale", state: null, attempt: 0 } : answer,
      ),
  })),
  broken(3, "a change to a run that isn't stored is answered as done", (store) => ({
    transition: async (changes) =>
      (await store.transition(changes)).map((answer) =>
        answer.outcome === "stale" && answer.state === null ? { outcome: "done" } : answer,
      ),
  })),
  broken(3, "a run whose lease ended can't be finished", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const isOver = run?.state === "running" && run.claimableAt! <= (await store.now())
        if (isOver) return { outcome: "stale", state: run.state, attempt: run.attempt } as const
        return (await store.transition([change]))[0]!
      }),
  })),
  broken(3, "states and attempts are checked for the whole call, then all changes are written", (store) => ({
    async transition(changes) {
      const runs = await Promise.all(changes.map((change) => findRun(store, change.runId)))
      const stands = changes.map(
        (change, index) => runs[index]?.state === change.ifState && runs[index]?.attempt === change.ifAttempt,
      )
      await roundTrip()
      return Promise.all(
        changes.map(async (change, index) => {
          const { state, attempt } = (await findRun(store, change.runId)) ?? { state: null, attempt: 0 }
          if (!stands[index] || state === null) return { outcome: "stale", state, attempt } as const
          return (await store.transition([{ ...change, ifState: state, ifAttempt: attempt }]))[0]!
        }),
      )
    },
  })),
]

export const BROKEN_FENCED = [...versions, ...steps, ...BROKEN_HEARTBEATS]
