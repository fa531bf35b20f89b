import type { Claimed, Progress, Run, Store } from "belfry/store"
import { allRuns, broken, each, findRun, reading, roundTrip } from "./breaking.ts"

export const BROKEN_ALONE = [
  broken(5, "claims at the same time are given the same runs", (store) => {
    let underWay: Promise<Claimed> | null = null
    return {
      async claim(request) {
        underWay ??= roundTrip().then(() => store.claim(request))
        const answer = await underWay
        underWay = null
        return answer
      },
    }
  }),
  broken(5, "a claimed run has the name of a pool, not of its worker", (store) =>
    reading(store, (run) => ({ ...run, workerId: run.workerId === null ? null : "pool" })),
  ),
  broken(5, "a worker is given the runs that it holds again", (store) => ({
    async claim(request) {
      const held = (await allRuns(store)).filter(
        (run) => run.state === "running" && run.workerId === request.workerId,
      )
      const answer = await store.claim(request)
      const fresh = answer.runs.filter((run) => !held.some(({ id }) => id === run.id))
      return { ...answer, runs: [...held, ...fresh].slice(0, request.limit) }
    },
  })),
  broken(5, "a claim returns the runs as they were before it", (store) => ({
    async claim(request) {
      const before = new Map((await allRuns(store)).map((run) => [run.id, run]))
      const answer = await store.claim(request)
      return { ...answer, runs: answer.runs.map((run) => before.get(run.id)!) }
    },
  })),
  broken(5, "a claim gives runs of any task", (store) => ({
    async claim(request) {
      const names = new Set((await allRuns(store)).map((run) => run.task))
      const leaseMs = request.tasks[0]?.leaseMs ?? 1_000
      return store.claim({ ...request, tasks: [...names].map((name) => ({ name, leaseMs })) })
    },
  })),
  broken(5, "task names are compared without case", (store) => ({
    async claim(request) {
      const wanted = new Map(request.tasks.map(({ name, leaseMs }) => [name.toLowerCase(), leaseMs]))
      const names = [...new Set((await allRuns(store)).map((run) => run.task))]
      const tasks = names.flatMap((name) => {
        const leaseMs = wanted.get(name.toLowerCase())
        return leaseMs === undefined ? [] : [{ name, leaseMs }]
      })
      return store.claim({ ...request, tasks })
    },
  })),
  broken(5, "task names are compared without trailing spaces", (store) => ({
    claim: (request) =>
      store.claim({
        ...request,
        tasks: request.tasks.flatMap((task) => [task, { ...task, name: `${task.name} ` }]),
      }),
  })),
  broken(5, "a claim keeps the progress of the previous attempt", (store) => {
    const sent = new Map<string, Progress>()
    return {
      ...reading(store, (run) => ({ ...run, progress: sent.get(run.id) ?? run.progress })),
      heartbeat(beat) {
        for (const { runId, progress } of beat.held) if (progress !== null) sent.set(runId, progress)
        return store.heartbeat(beat)
      },
    }
  }),
  broken(5, "skips are given to workers", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      const skips = (await allRuns(store)).filter(
        (run) => run.state === "skipped" && run.task === request.tasks[0]?.name,
      )
      return { ...answer, runs: [...answer.runs, ...skips] }
    },
  })),
  broken(5, "lost attempts are not counted", (store) => reading(store, (run) => ({ ...run, lost: 0 }))),
  broken(5, "a lost attempt is counted as a failure", (store) =>
    reading(store, (run) => ({ ...run, lost: 0, failures: run.failures + run.lost })),
  ),
  broken(5, "a lost attempt isn't recorded", (store) =>
    reading(store, (run) => ({ ...run, attempts: run.attempts.filter(({ outcome }) => outcome !== "lost") })),
  ),
  broken(5, "a lost attempt is recorded with the worker that took over", (store) =>
    reading(store, (run) => ({
      ...run,
      attempts: run.attempts.map((attempt) =>
        attempt.outcome === "lost" && run.workerId !== null
          ? { ...attempt, workerId: run.workerId }
          : attempt,
      ),
    })),
  ),
  broken(5, "a lost attempt is recorded with the start of the next attempt", (store) =>
    reading(store, (run) => ({
      ...run,
      attempts: run.attempts.map((attempt) =>
        attempt.outcome === "lost" ? { ...attempt, startedAt: run.startedAt! } : attempt,
      ),
    })),
  ),
  broken(5, "a released attempt counts as lost", (store) =>
    reading(store, (run) => ({
      ...run,
      lost: run.lost + run.attempts.filter(({ outcome }) => outcome === "released").length,
    })),
  ),
  broken(5, "an unconfirmed attempt counts as lost", (store) =>
    reading(store, (run) => ({
      ...run,
      lost: run.lost + run.attempts.filter(({ outcome }) => outcome === "unconfirmed").length,
    })),
  ),
  broken(5, "a confirmed attempt confirms later attempts", (store) =>
    reading(store, (run) => {
      const since = run.attempts.findIndex(({ outcome }) => outcome === "lost")
      const isLost = (index: number) => since >= 0 && index > since
      const attempts = run.attempts.map((attempt, index) =>
        attempt.outcome === "unconfirmed" && isLost(index)
          ? { ...attempt, outcome: "lost" as const }
          : attempt,
      )
      return { ...run, attempts, lost: attempts.filter(({ outcome }) => outcome === "lost").length }
    }),
  ),
  broken(5, "a second lost attempt is not counted", (store) =>
    reading(store, (run) => ({ ...run, lost: Math.min(run.lost, 1) })),
  ),
  broken(5, "attempt numbers start again when an operator retries a run", restartingAttempts),
  broken(5, "a heartbeat doesn't extend the lease", (store) => ({
    async heartbeat(beat) {
      const runs = await Promise.all(beat.held.map(({ runId }) => findRun(store, runId)))
      const gone = beat.held.filter(({ attempt }, index) => {
        const run = runs[index]
        return run?.state !== "running" || run.attempt !== attempt
      })
      return store.heartbeat({ ...beat, held: gone })
    },
  })),
  broken(5, "a late worker can finish a run that another worker has taken", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const ifAttempt = run?.state === "running" ? run.attempt : change.ifAttempt
        return (await store.transition([{ ...change, ifAttempt }]))[0]!
      }),
  })),
  broken(5, "a late heartbeat doesn't return the runs that were taken", (store) => ({
    heartbeat: async (beat) => ({ ...(await store.heartbeat(beat)), gone: [] }),
  })),
]

function restartingAttempts(store: Store): Partial<Store> {
  const attemptsBefore = new Map<string, number>()
  const base = (id: string) => attemptsBefore.get(id) ?? 0
  const shown = (run: Run) => ({ ...run, attempt: run.attempt - base(run.id) })
  return {
    ...reading(store, shown),
    transition: (changes) =>
      each(changes, async (change) => {
        const ifAttempt = change.ifAttempt + base(change.runId)
        const [answer] = await store.transition([{ ...change, ifAttempt }])
        if (answer!.outcome === "done" && change.outcome === null && change.state === "pending") {
          attemptsBefore.set(change.runId, ifAttempt)
        }
        return answer!
      }),
  }
}
