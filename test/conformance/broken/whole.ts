import { type Attempt, isFinished, type NewRun, type Progress } from "belfry/store"
import { broken, each, findRun, findSchedule, reading, roundTrip } from "./breaking.ts"
import { BROKEN_LOG_ORDER } from "./logs.ts"
import { BROKEN_WHOLE_COUNTS } from "./whole-counts.ts"
import { BROKEN_WHOLE_ENDS } from "./whole-ends.ts"
import { BROKEN_WHOLE_RECORDS } from "./whole-records.ts"

const changes = [
  broken(1, "a change doesn't store its details", (store) => ({
    transition: (changes) => store.transition(changes.map((change) => ({ ...change, details: null }))),
  })),
  broken(1, "a change doesn't store its progress", (store) => ({
    transition: (changes) => store.transition(changes.map((change) => ({ ...change, progress: null }))),
  })),
  broken(1, "a change without progress deletes the progress of heartbeats", (store) => {
    const sent = new Map<string, Progress | null>()
    return {
      ...reading(store, (run) => ({ ...run, progress: sent.has(run.id) ? sent.get(run.id)! : run.progress })),
      transition(changes) {
        for (const { runId, state, progress } of changes) if (isFinished(state)) sent.set(runId, progress)
        return store.transition(changes)
      },
    }
  }),
  broken(1, "a run keeps ten attempts", (store) =>
    reading(store, (run) => ({ ...run, attempts: run.attempts.slice(-10) })),
  ),
  broken(1, "a run keeps all attempts", (store) => {
    const attemptsOf = new Map<string, Map<number, Attempt>>()
    return reading(store, (run) => {
      const attempts = attemptsOf.get(run.id) ?? new Map<number, Attempt>()
      attemptsOf.set(run.id, attempts)
      for (const attempt of run.attempts) attempts.set(attempt.attempt, attempt)
      return { ...run, attempts: [...attempts.values()] }
    })
  }),
  broken(1, "a run keeps only its last attempt", (store) =>
    reading(store, (run) => ({ ...run, attempts: run.attempts.slice(-1) })),
  ),
  broken(1, "an attempt is recorded without its worker", (store) =>
    reading(store, (run) => ({
      ...run,
      attempts: run.attempts.map((attempt) => ({ ...attempt, workerId: "" })),
    })),
  ),
  broken(1, "every change ends an attempt", (store) => ({
    transition: (changes) =>
      store.transition(changes.map((change) => ({ ...change, outcome: change.outcome ?? "released" }))),
  })),
  broken(1, "a change with a null message and error keeps the old ones", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const message = change.message ?? run?.message ?? null
        const error = change.error ?? run?.error ?? null
        return (await store.transition([{ ...change, message, error }]))[0]!
      }),
  })),
  broken(1, "a change without a reason deletes the reason and `by`", (store) => {
    const sent = new Map<string, { reason: string | null; by: string | null }>()
    return {
      ...reading(store, (run) => ({ ...run, ...sent.get(run.id) })),
      async transition(changes) {
        const answers = await store.transition(changes)
        for (const [index, { runId, reason, by }] of changes.entries()) {
          if (answers[index]!.outcome === "done") sent.set(runId, { reason, by })
        }
        return answers
      },
    }
  }),
  broken(1, "a retried run keeps its completion", (store) => {
    const completions = new Map<string, number>()
    return reading(store, (run) => {
      if (run.completedAt !== null) completions.set(run.id, run.completedAt)
      return { ...run, completedAt: run.completedAt ?? completions.get(run.id) ?? null }
    })
  }),
  broken(1, "a finished run stays claimable", (store) =>
    reading(store, (run) => ({ ...run, claimableAt: run.claimableAt ?? run.completedAt })),
  ),
  broken(1, "the store counts failures by itself", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const failures = (run?.failures ?? 0) + (change.error === null ? 0 : 1)
        return (await store.transition([{ ...change, failures }]))[0]!
      }),
  })),
  broken(1, "one stale change makes the whole batch stale", (store) => ({
    async transition(changes) {
      for (const change of changes) {
        const run = await findRun(store, change.runId)
        if (run?.state !== change.ifState) {
          return changes.map(() => ({
            outcome: "stale",
            state: run?.state ?? null,
            attempt: run?.attempt ?? 0,
          }))
        }
      }
      return store.transition(changes)
    },
  })),
  broken(1, "answers come in the order of the database", (store) => ({
    fire: async (plans) => [...(await store.fire(plans))].sort((a, b) => (a.outcome < b.outcome ? -1 : 1)),
    enqueue: async (runs) => [...(await store.enqueue(runs))].sort((a, b) => (a.runId < b.runId ? -1 : 1)),
    transition: async (changes) =>
      [...(await store.transition(changes))].sort((a, b) => (a.outcome < b.outcome ? -1 : 1)),
  })),
]

const plans = [
  broken(1, "a fire writes its runs before it checks the version", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        await store.enqueue(plan.runs.filter((run) => run.liveKey === null))
        return (await store.fire([plan]))[0]!
      }),
  })),
  broken(1, "a held plan advances its schedule", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([plan])
        if (answer!.outcome === "held") await store.fire([{ ...plan, runs: [] }])
        return answer!
      }),
  })),
  broken(1, "a held plan creates the runs whose keys are free", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([plan])
        if (answer!.outcome === "held") await store.enqueue(plan.runs)
        return answer!
      }),
  })),
  broken(1, "a plan without progress doesn't delete its schedule", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const existing = await findSchedule(store, plan.scheduleId)
        return (await store.fire([{ ...plan, progress: plan.progress ?? existing ?? null }]))[0]!
      }),
  })),
  broken(1, "a plan without progress doesn't create its runs", (store) => ({
    fire: (plans) => store.fire(plans.map((plan) => (plan.progress === null ? { ...plan, runs: [] } : plan))),
  })),
  broken(1, "a fire stores only the progress that the next fire needs", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const existing = await findSchedule(store, plan.scheduleId)
        const progress = plan.progress && {
          ...plan.progress,
          firedCount: existing?.firedCount ?? 0,
          lastError: existing?.lastError ?? null,
        }
        return (await store.fire([{ ...plan, progress }]))[0]!
      }),
  })),
  broken(1, "the second of two runs of a plan with one live key is dropped", (store) => ({
    fire: (plans) => {
      const isFirst = (run: NewRun, index: number, runs: readonly NewRun[]) =>
        run.liveKey === null || runs.findIndex((other) => other.liveKey === run.liveKey) === index
      return store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.filter(isFirst) })))
    },
  })),
  broken(1, "deleting a schedule deletes its runs", (store) => {
    const gone = new Set<string>()
    const isShown = (run: { scheduleId: string | null }) => !gone.has(run.scheduleId ?? "")
    return {
      findRuns: async (filter, page) => (await store.findRuns(filter, page)).filter(isShown),
      readRuns: async (ids) => (await store.readRuns(ids)).filter(isShown),
      fire(plans) {
        for (const { scheduleId, progress } of plans) if (progress === null) gone.add(scheduleId)
        return store.fire(plans)
      },
    }
  }),
  broken(1, "the store numbers log lines by itself", (store) => ({
    readLogs: async (request) =>
      (await store.readLogs(request)).map((line, index) => ({ ...line, number: index + 1 })),
  })),
  broken(1, "a log line's fields become text", (store) => ({
    appendLogs: (lines) =>
      store.appendLogs(lines.map((line) => ({ ...line, fields: JSON.stringify(line.fields) }))),
  })),
  broken(1, "log lines of a second caller at the same time are lost", (store) => {
    let isBusy = false
    return {
      async appendLogs(lines) {
        if (isBusy) return
        isBusy = true
        await roundTrip()
        await store.appendLogs(lines)
        isBusy = false
      },
    }
  }),
  broken(1, "a finished run keeps its worker", (store) => {
    const workers = new Map<string, string>()
    return reading(store, (run) => {
      if (run.workerId !== null) workers.set(run.id, run.workerId)
      return isFinished(run.state) ? { ...run, workerId: workers.get(run.id) ?? null } : run
    })
  }),
]

export const BROKEN_WHOLE = [
  ...BROKEN_WHOLE_RECORDS,
  ...BROKEN_WHOLE_COUNTS,
  ...BROKEN_WHOLE_ENDS,
  ...changes,
  ...plans,
  ...BROKEN_LOG_ORDER,
]
