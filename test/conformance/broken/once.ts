import {
  concurrencyKeyOf,
  type FirePlan,
  isFinished,
  type NewRun,
  type Run,
  type Store,
  UNFINISHED_FACTS_MAX,
} from "belfry/store"
import { allRuns, broken, each, findRun, findSchedule, reading, roundTrip } from "./breaking.ts"

const firing = [
  broken(4, "a fire ignores the version", (store) => ({
    fire: (plans) => each(plans, (plan) => forceFire(store, plan)),
  })),
  broken(4, "a fire checks the version, then writes", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        if ((await findSchedule(store, plan.scheduleId))?.version !== plan.ifVersion)
          return { outcome: "stale" }
        await roundTrip()
        return forceFire(store, plan)
      }),
  })),
  broken(4, "the versions of a call are checked before any of it is written", (store) => ({
    async fire(plans) {
      const schedules = await Promise.all(plans.map((plan) => findSchedule(store, plan.scheduleId)))
      const stands = plans.map((plan, index) => schedules[index]?.version === plan.ifVersion)
      return each(plans, async (plan) =>
        stands[plans.indexOf(plan)] ? forceFire(store, plan) : { outcome: "stale" as const },
      )
    },
  })),
  broken(4, "a fire and an enqueue overwrite an existing run", overwriting),
  broken(4, "a fire names every run of its plan as created", (store) => ({
    async fire(plans) {
      const answers = await store.fire(plans)
      return answers.map((answer, index) =>
        answer.outcome === "done" ? { ...answer, created: plans[index]!.runs.map((run) => run.id) } : answer,
      )
    },
  })),
  broken(4, "a fire names only pending runs as created", (store) => ({
    async fire(plans) {
      const skips = new Set(
        plans.flatMap((plan) => plan.runs.filter((run) => run.state === "skipped")).map((run) => run.id),
      )
      return (await store.fire(plans)).map((answer) =>
        answer.outcome === "done"
          ? { ...answer, created: answer.created.filter((id) => !skips.has(id)) }
          : answer,
      )
    },
  })),
  broken(4, "a plan with a run that exists is refused", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        for (const run of plan.runs) if (await findRun(store, run.id)) return { outcome: "stale" }
        return (await store.fire([plan]))[0]!
      }),
  })),
  broken(4, "an enqueue of an id that exists is answered as created", (store) => ({
    enqueue: async (runs) =>
      (await store.enqueue(runs)).map((answer) =>
        answer.outcome === "exists" ? { ...answer, outcome: "created" } : answer,
      ),
  })),
  broken(4, "an enqueue reads the id, then writes", (store) => ({
    async enqueue(runs) {
      const existing = await Promise.all(runs.map((run) => findRun(store, run.id)))
      await roundTrip()
      const answers = await store.enqueue(runs)
      return answers.map((answer, index) =>
        existing[index] === undefined && answer.outcome === "exists"
          ? { ...answer, outcome: "created" }
          : answer,
      )
    },
  })),
]

async function forceFire(store: Store, plan: FirePlan) {
  const existing = await findSchedule(store, plan.scheduleId)
  return (await store.fire([{ ...plan, ifVersion: existing?.version ?? -1 }]))[0]!
}

/** `insert … on conflict do update`. */
function overwriting(store: Store): Partial<Store> {
  const written = new Map<string, NewRun>()
  const write = async (run: NewRun) => {
    if (await findRun(store, run.id)) written.set(run.id, run)
  }
  const shown = (run: Run) => {
    const { payload, task, state } = written.get(run.id) ?? run
    return { ...run, payload, task, state: written.has(run.id) ? state : run.state }
  }
  return {
    ...reading(store, shown),
    async enqueue(runs) {
      for (const run of runs) await write(run)
      return store.enqueue(runs)
    },
    async fire(plans) {
      for (const run of plans.flatMap((plan) => plan.runs)) await write(run)
      return store.fire(plans)
    },
  }
}

const facts = [
  broken(4, "unfinished runs are ordered newest first", (store) =>
    factsOf(store, (runs) => [...runs].reverse()),
  ),
  broken(4, "unfinished runs are ordered by id", (store) =>
    factsOf(store, (runs) => [...runs].sort((a, b) => (a.id < b.id ? -1 : 1))),
  ),
  broken(4, "unfinished runs are ordered by when they last became due", (store) =>
    factsOf(store, (runs) =>
      [...runs].sort((a, b) => a.claimableAt! - b.claimableAt! || (a.id < b.id ? 1 : -1)),
    ),
  ),
  broken(4, "only pending runs count as unfinished", (store) =>
    factsOf(store, (runs) => runs.filter((run) => run.state === "pending")),
  ),
  broken(4, "backfills count as the schedule's own", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const runs = (await allRuns(store)).filter((run) => !isFinished(run.state))
      const due = answer.due.map(({ schedule, facts }) => ({
        schedule,
        facts: { ...facts, unfinished: runs.filter((run) => run.scheduleId === schedule.id) },
      }))
      return { ...answer, due }
    },
  })),
  broken(4, "finished runs count as unfinished", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const runs = await allRuns(store)
      const due = answer.due.map(({ schedule, facts }) => ({
        schedule,
        facts: {
          ...facts,
          unfinished: runs.filter((run) => run.concurrencyKey === concurrencyKeyOf(schedule.id)),
        },
      }))
      return { ...answer, due }
    },
  })),
  broken(4, "the facts hold all unfinished runs", (store) => allUnfinished(store, (runs) => runs)),
  broken(4, "the facts hold the newest of many unfinished runs", (store) =>
    allUnfinished(store, (runs) => runs.slice(-UNFINISHED_FACTS_MAX)),
  ),
  broken(4, "the facts hold the first of many unfinished runs by id", (store) =>
    allUnfinished(store, (runs) => {
      const first = [...runs].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, UNFINISHED_FACTS_MAX)
      return runs.filter((run) => first.includes(run))
    }),
  ),
  broken(4, "the facts hold ten unfinished runs", (store) =>
    allUnfinished(store, (runs) => runs.slice(0, 10)),
  ),
  broken(4, "the last success is the first one", (store) =>
    successes(store, (runs) => runs.filter((run) => run.state === "succeeded").at(-1)),
  ),
  broken(4, "any completion is a success", (store) =>
    successes(store, (runs) => runs.find((run) => run.completedAt !== null)),
  ),
  broken(4, "the last success is read from the newest run only", (store) =>
    successes(store, (runs) => (runs[0]?.state === "succeeded" ? runs[0] : undefined)),
  ),
  broken(4, "the last success is forgotten with its run", (store) =>
    successes(store, (runs) => runs.find((run) => run.state === "succeeded")),
  ),
]

function factsOf(store: Store, change: (runs: readonly Run[]) => readonly Run[]): Partial<Store> {
  return {
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const due = await each(answer.due, async ({ schedule, facts }) => {
        const unfinished = await each(facts.unfinished, async ({ id }) => (await findRun(store, id))!)
        return { schedule, facts: { ...facts, unfinished: change(unfinished) } }
      })
      return { ...answer, due }
    },
  }
}

/** `choose` gets all of a schedule's unfinished runs, oldest first. */
function allUnfinished(store: Store, choose: (runs: readonly Run[]) => readonly Run[]): Partial<Store> {
  return {
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const runs = (await allRuns(store)).toReversed().filter((run) => !isFinished(run.state))
      const due = answer.due.map(({ schedule, facts }) => {
        const own = runs.filter((run) => run.concurrencyKey === concurrencyKeyOf(schedule.id))
        return { schedule, facts: { ...facts, unfinished: choose(own) } }
      })
      return { ...answer, due }
    },
  }
}

/** `last` gets a schedule's runs, newest first. */
function successes(store: Store, last: (runs: readonly Run[]) => Run | undefined): Partial<Store> {
  return {
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const runs = await allRuns(store)
      const due = answer.due.map(({ schedule, facts }) => {
        const entries = schedule.dependsOn.map(({ scheduleId }) => {
          const own = runs.filter((run) => run.scheduleId === scheduleId)
          return [scheduleId, last(own)?.completedAt ?? null] as const
        })
        return { schedule, facts: { ...facts, lastSuccessAt: Object.fromEntries(entries) } }
      })
      return { ...answer, due }
    },
  }
}

export const BROKEN_ONCE = [...firing, ...facts]
