import { type Attempt, isFinished, type NewRun, type Progress } from "belfry/store"
import { broken, each, findRun, findSchedule, reading, roundTrip } from "./breaking.ts"
import { BROKEN_LOG_ORDER } from "./logs.ts"
import { BROKEN_WHOLE_COUNTS } from "./whole-counts.ts"
import { BROKEN_WHOLE_ENDS } from "./whole-ends.ts"
import { BROKEN_WHOLE_RECORDS } from "./whole-records.ts"

const changes = [
  broken(1, "a change forgets its details", (store) => ({
    transition: (changes) => store.transition(changes.map((change) => ({ ...change, details: null }))),
  })),
  broken(1, "a change forgets its progress", (store) => ({
    transition: (changes) => store.transition(changes.map((change) => ({ ...change, progress: null }))),
  })),
  broken(1, "a change without progress wipes what the heartbeats have stored", (store) => {
    const said = new Map<string, Progress | null>()
    return {
      ...reading(store, (run) => ({ ...run, progress: said.has(run.id) ? said.get(run.id)! : run.progress })),
      transition(changes) {
        for (const { runId, state, progress } of changes) if (isFinished(state)) said.set(runId, progress)
        return store.transition(changes)
      },
    }
  }),
  broken(1, "the story keeps ten attempts", (store) =>
    reading(store, (run) => ({ ...run, attempts: run.attempts.slice(-10) })),
  ),
  broken(1, "the story is never cut", (store) => {
    const stories = new Map<string, Map<number, Attempt>>()
    return reading(store, (run) => {
      const story = stories.get(run.id) ?? new Map<number, Attempt>()
      stories.set(run.id, story)
      for (const attempt of run.attempts) story.set(attempt.attempt, attempt)
      return { ...run, attempts: [...story.values()] }
    })
  }),
  broken(1, "the story holds the last attempt only", (store) =>
    reading(store, (run) => ({ ...run, attempts: run.attempts.slice(-1) })),
  ),
  broken(1, "the story names the task's error but not its worker", (store) =>
    reading(store, (run) => ({
      ...run,
      attempts: run.attempts.map((attempt) => ({ ...attempt, workerId: "" })),
    })),
  ),
  broken(1, "every change ends an attempt", (store) => ({
    transition: (changes) =>
      store.transition(changes.map((change) => ({ ...change, outcome: change.outcome ?? "released" }))),
  })),
  broken(1, "a change that says nothing leaves the old message and error", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const message = change.message ?? run?.message ?? null
        const error = change.error ?? run?.error ?? null
        return (await store.transition([{ ...change, message, error }]))[0]!
      }),
  })),
  broken(1, "a change without a reason wipes the reason and the name", (store) => {
    const said = new Map<string, { reason: string | null; by: string | null }>()
    return {
      ...reading(store, (run) => ({ ...run, ...said.get(run.id) })),
      async transition(changes) {
        const answers = await store.transition(changes)
        for (const [index, { runId, reason, by }] of changes.entries()) {
          if (answers[index]!.outcome === "done") said.set(runId, { reason, by })
        }
        return answers
      },
    }
  }),
  broken(1, "a revived run keeps its completion", (store) => {
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
  broken(1, "one stale change spoils its batch", (store) => ({
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
  broken(1, "answers come in the order the database likes", (store) => ({
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
  broken(1, "a held plan moves its schedule on", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([plan])
        if (answer!.outcome === "held") await store.fire([{ ...plan, runs: [] }])
        return answer!
      }),
  })),
  broken(1, "a held plan creates what is not held", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([plan])
        if (answer!.outcome === "held") await store.enqueue(plan.runs)
        return answer!
      }),
  })),
  broken(1, "a plan without progress leaves its schedule there", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const there = await findSchedule(store, plan.scheduleId)
        return (await store.fire([{ ...plan, progress: plan.progress ?? there ?? null }]))[0]!
      }),
  })),
  broken(1, "a plan without progress forgets its runs", (store) => ({
    fire: (plans) => store.fire(plans.map((plan) => (plan.progress === null ? { ...plan, runs: [] } : plan))),
  })),
  broken(1, "a fire keeps only what the next fire needs", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const there = await findSchedule(store, plan.scheduleId)
        const progress = plan.progress && {
          ...plan.progress,
          firedCount: there?.firedCount ?? 0,
          lastError: there?.lastError ?? null,
        }
        return (await store.fire([{ ...plan, progress }]))[0]!
      }),
  })),
  broken(1, "of two runs of a plan with one live key the second is dropped", (store) => ({
    fire: (plans) => {
      const isFirst = (run: NewRun, index: number, runs: readonly NewRun[]) =>
        run.liveKey === null || runs.findIndex((other) => other.liveKey === run.liveKey) === index
      return store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.filter(isFirst) })))
    },
  })),
  broken(1, "deleting a schedule deletes its runs", (store) => {
    const gone = new Set<string>()
    const isThere = (run: { scheduleId: string | null }) => !gone.has(run.scheduleId ?? "")
    return {
      findRuns: async (filter, page) => (await store.findRuns(filter, page)).filter(isThere),
      readRuns: async (ids) => (await store.readRuns(ids)).filter(isThere),
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
  broken(1, "log lines of two callers at once are taken for one, and the second is lost", (store) => {
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
  broken(1, "a run that is finished keeps its worker", (store) => {
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
