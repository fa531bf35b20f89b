import type { Store } from "belfry/store"
import { succeed } from "../../../src/core/run/run.ts"
import {
  aClaim,
  aDocument,
  aHeartbeat,
  aLogLine,
  anEntry,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  aStoredSchedule,
} from "../../../src/store/laws/factories.ts"

export type Call = (store: Store) => Promise<unknown>

/** Every operation of a store. None of the calls depends on another. */
export const CALLS: Readonly<Record<Exclude<keyof Store, "open" | "close" | "listen">, Call>> = {
  now: (store) => store.now(),
  putSchedule: (store) => store.putSchedule(aSchedule(), null),
  dueSchedules: (store) => store.dueSchedules({ limit: 10 }),
  fire: (store) => store.fire([aPlan(aStoredSchedule(), { runs: [aRun()] })]),
  enqueue: (store) => store.enqueue([aRun()]),
  claim: (store) => store.claim(aClaim()),
  heartbeat: (store) => store.heartbeat(aHeartbeat()),
  transition: (store) => store.transition([succeed(A_REF, { message: null, details: null })]),
  prune: (store) => store.prune(aPruning()),
  appendLogs: (store) => store.appendLogs([aLogLine("r")]),
  readLogs: (store) => store.readLogs({ runId: "r", after: null, limit: 1 }),
  findSchedules: (store) => store.findSchedules({}, { orderBy: "id", after: null, limit: 1 }),
  findRuns: (store) => store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1 }),
  readRuns: (store) => store.readRuns(["r"]),
  putDocument: (store) => store.putDocument(aDocument(), null, anEntry()),
  findDocuments: (store) => store.findDocuments({ kind: "calendar" }, { afterId: null, limit: 1 }),
  appendJournal: (store) => store.appendJournal([anEntry()]),
  readJournal: (store) => store.readJournal({}, { order: "newest", after: null, limit: 1 }),
  summarise: (store) => store.summarise({ subject: "all", spanMs: 60_000, from: 0, until: 1, limit: 1 }),
  count: (store) => store.count({ runs: {}, schedules: {}, limit: 1 }),
  findWorkers: (store) => store.findWorkers({ afterId: null, limit: 1 }),
}

const A_REF = { id: "r", state: "running", attempt: 1, failures: 0, lost: 0 } as const

/** Makes all calls at the same time. */
export function all<T>(act: (call: Call) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Object.values(CALLS).map(act))
}

export async function succeeds(store: Store, call: Call): Promise<boolean> {
  return call(store).then(
    () => true,
    () => false,
  )
}
