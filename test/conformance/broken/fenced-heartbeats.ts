import type { Progress } from "belfry/store"
import { allWorkers, broken, each, findRun, reading } from "./breaking.ts"

/** Heartbeats that extend the wrong runs, or give a wrong answer. */
export const BROKEN_HEARTBEATS = [
  broken(3, "a heartbeat makes a finished run running again", (store) => ({
    async heartbeat(beat) {
      for (const { runId, attempt, leaseMs } of beat.held) {
        const run = await findRun(store, runId)
        if (run === undefined || run.attempt !== attempt || run.state === "running") continue
        const { state: ifState, failures, lost, message, details, error } = run
        const unset = { outcome: null, progress: null, reason: null, by: null }
        const rest = { ...unset, message, details, error, failures, lost }
        const change = {
          runId,
          ifState,
          ifAttempt: attempt,
          state: "running" as const,
          claimableInMs: leaseMs,
        }
        await store.transition([{ ...change, ...rest }])
      }
      return store.heartbeat(beat)
    },
  })),
  broken(3, "a heartbeat ignores the attempt", (store) => ({
    async heartbeat(beat) {
      const held = await each(beat.held, async (one) => {
        const run = await findRun(store, one.runId)
        return { ...one, attempt: run?.attempt ?? one.attempt }
      })
      return store.heartbeat({ ...beat, held })
    },
  })),
  broken(3, "a heartbeat without progress deletes the stored progress", (store) => {
    const sent = new Map<string, Progress | null>()
    return {
      ...reading(store, (run) => ({ ...run, progress: sent.get(run.id) ?? null })),
      heartbeat(beat) {
        for (const { runId, progress } of beat.held) sent.set(runId, progress)
        return store.heartbeat(beat)
      },
    }
  }),
  broken(3, "a heartbeat doesn't store progress", (store) => ({
    heartbeat: (beat) =>
      store.heartbeat({ ...beat, held: beat.held.map((held) => ({ ...held, progress: null })) }),
  })),
  broken(3, "every gone run is returned as lost", (store) => ({
    async heartbeat(beat) {
      const answer = await store.heartbeat(beat)
      return { ...answer, gone: answer.gone.map((each) => ({ ...each, why: "lost" as const })) }
    },
  })),
  broken(3, "a cancelled run is returned as cancelled for every attempt", (store) => ({
    async heartbeat(beat) {
      const answer = await store.heartbeat(beat)
      const gone = await each(answer.gone, async (one) => {
        const isCancelled = (await findRun(store, one.runId))?.state === "cancelled"
        return { ...one, why: isCancelled ? ("cancelled" as const) : one.why }
      })
      return { ...answer, gone }
    },
  })),
  broken(3, "a run that isn't stored isn't returned as gone", (store) => ({
    async heartbeat(beat) {
      const answer = await store.heartbeat(beat)
      const known = await Promise.all(answer.gone.map(({ runId }) => findRun(store, runId)))
      return { ...answer, gone: answer.gone.filter((_, index) => known[index] !== undefined) }
    },
  })),
  broken(3, "one gone run makes the heartbeat ignore the others", (store) => ({
    async heartbeat(beat) {
      const runs = await Promise.all(beat.held.map(({ runId }) => findRun(store, runId)))
      const gone = beat.held.filter((_, index) => runs[index]?.state !== "running")
      return store.heartbeat(gone.length === 0 ? beat : { ...beat, held: gone })
    },
  })),
  broken(3, "a heartbeat never returns gone runs", (store) => ({
    heartbeat: async (beat) => ({ ...(await store.heartbeat(beat)), gone: [] }),
  })),
  broken(3, "the record of a leaving worker stays", (store) => ({
    heartbeat: (beat) => store.heartbeat({ ...beat, isLeaving: false }),
  })),
  broken(3, "one leaving worker deletes all workers", (store) => ({
    async heartbeat(beat) {
      const workers = beat.isLeaving ? await allWorkers(store) : []
      for (const worker of workers) await store.heartbeat({ ...beat, worker, held: [] })
      return store.heartbeat(beat)
    },
  })),
]
