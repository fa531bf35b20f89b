import type { Json, Worker } from "belfry/store"
import {
  allWorkers,
  broken,
  each,
  findSchedule,
  folded,
  keeping,
  reading,
  textsOf,
  writing,
} from "./breaking.ts"

/** Records are read differently from how they were written. */
export const BROKEN_WHOLE_RECORDS = [
  broken(1, "characters outside the Basic Multilingual Plane become question marks", (store) =>
    keeping(store, (record) => textsOf(record, (text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, "?"))),
  ),
  broken(1, "control characters are dropped", (store) =>
    keeping(store, (record) => textsOf(record, (text) => text.replace(/[\u0001-\u001f]/g, ""))),
  ),
  broken(1, "empty text is stored as null", (store) =>
    keeping(store, (record) => textsOf(record, (text) => (text === "" ? null : text))),
  ),
  broken(1, "a null payload is stored as an empty object", (store) =>
    writing(store, (run) => ({ ...run, payload: run.payload ?? {} })),
  ),
  broken(1, "a payload is cut at 64 KB", (store) =>
    keeping(store, (record) => textsOf(record, (text) => text.slice(0, 65_535))),
  ),
  broken(1, "dots in keys are replaced", (store) =>
    writing(store, (run) => ({ ...run, payload: withoutDots(run.payload) })),
  ),
  broken(1, "priority is a 16-bit column", (store) =>
    keeping(store, (record) => {
      const { priority } = record as { priority: number }
      return { ...record, priority: Math.max(-32_768, Math.min(32_767, priority)) }
    }),
  ),
  broken(1, "instants are stored in seconds", (store) =>
    keeping(store, (record) => JSON.parse(JSON.stringify(record), inSeconds)),
  ),
  broken(1, "a year beyond 2262 becomes null", (store) =>
    keeping(store, (record) =>
      JSON.parse(JSON.stringify(record), (_, value) => (value > 9.2e12 && value < 1e15 ? null : value)),
    ),
  ),
  broken(1, "ids are compared without case, accents and trailing spaces", (store) => {
    const seen = new Map<string, string>()
    return {
      enqueue: (runs) =>
        each(runs, async (run) => {
          const existing = seen.get(folded(run.id))
          if (existing !== undefined) return { outcome: "exists", runId: existing } as const
          seen.set(folded(run.id), run.id)
          return (await store.enqueue([run]))[0]!
        }),
    }
  }),
  broken(1, "workers' ids are compared without case, accents and trailing spaces", (store) => ({
    heartbeat: (beat) => store.heartbeat({ ...beat, worker: { ...beat.worker, id: folded(beat.worker.id) } }),
  })),
  broken(1, "ids are cut at 191 characters", (store) =>
    writing(store, (run) => ({ ...run, id: run.id.slice(0, 191) })),
  ),
  broken(1, "a put is merged into the stored schedule", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const existing = await findSchedule(store, schedule.id)
      const sent = Object.entries(schedule).filter(([, value]) => value !== null && value !== "")
      return store.putSchedule({ ...(existing ?? schedule), ...Object.fromEntries(sent) }, ifVersion)
    },
  })),
  broken(1, "a schedule's pause and overrides have no column", (store) => ({
    putSchedule: (schedule, ifVersion) =>
      store.putSchedule({ ...schedule, paused: null, overrides: [] }, ifVersion),
  })),
  broken(1, "a fire doesn't store a run's own retry policy", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map((plan) => ({ ...plan, runs: plan.runs.map((run) => ({ ...run, retry: null, by: null })) })),
      ),
  })),
  broken(1, "`missed` and `retry` have no column", (store) =>
    writing(store, (run) => ({ ...run, missed: null, retry: null })),
  ),
  broken(1, "null columns are read as undefined", (store) =>
    reading(store, (run) => {
      const present = Object.entries(run).filter(([, value]) => value !== null)
      return Object.fromEntries(present) as unknown as typeof run
    }),
  ),
  broken(1, "a skip has no completion", (store) =>
    reading(store, (run) => (run.state === "skipped" ? { ...run, completedAt: null } : run)),
  ),
  broken(1, "a claim returns runs without `missed` and `retry`", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      return { ...answer, runs: answer.runs.map((run) => ({ ...run, missed: null, retry: null })) }
    },
  })),
  ...(["roles", "version", "labels"] as const).map((part) =>
    broken(1, `a worker's ${part} stay those of its first heartbeat`, (store) => {
      const first = new Map<string, Worker>()
      return {
        async findWorkers(page) {
          return (await store.findWorkers(page)).map((worker) => {
            if (!first.has(worker.id)) first.set(worker.id, worker)
            return { ...worker, [part]: first.get(worker.id)![part] }
          })
        },
        async heartbeat(beat) {
          const answer = await store.heartbeat(beat)
          const worker = (await allWorkers(store)).find(({ id }) => id === beat.worker.id)
          if (worker && !first.has(worker.id)) first.set(worker.id, worker)
          return answer
        },
      }
    }),
  ),
  broken(1, "a worker's record stays that of its first heartbeat", (store) => {
    const first = new Map<string, Worker>()
    return {
      async findWorkers(page) {
        return (await store.findWorkers(page)).map((worker) => first.get(worker.id) ?? worker)
      },
      async heartbeat(beat) {
        const answer = await store.heartbeat(beat)
        const worker = (await allWorkers(store)).find(({ id }) => id === beat.worker.id)
        if (worker && !first.has(worker.id)) first.set(worker.id, worker)
        return answer
      },
    }
  }),
]

function withoutDots(value: Json): Json {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key.replace(/[.$]/g, "_"), withoutDots(entry)]),
  )
}

function inSeconds(_: string, value: unknown): unknown {
  return typeof value === "number" && value > 1e12 && value < 1e15 ? Math.floor(value / 1_000) * 1_000 : value
}
