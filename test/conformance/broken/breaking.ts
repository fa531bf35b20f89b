import type { Instant, NewRun, Run, Schedule, Store, Worker } from "belfry/store"
import { summaryOf } from "../../../src/core/run/run-summary.ts"
import { createMemoryStore } from "../../../src/stores/memory/memory-store.ts"

/** A store with one bug, of a kind that real stores have, and the law that it breaks. */
export interface BrokenStore {
  readonly law: number
  readonly bug: string
  create(clock: { now(): Instant }): Store
  /** Another connection to the same data. Default: the store is its own peer. */
  connect?(store: Store): Store
}

/** The broken operations, made from a sound memory store. */
export type Bug = (store: Store, clock: Skewed) => Partial<Store>

/** The store's clock, and how wrong it currently is. */
export interface Skewed {
  skewMs: number
  now(): Instant
}

export function broken(law: number, bug: string, breakIt: Bug): BrokenStore {
  return {
    law,
    bug,
    create(clock) {
      const skewed: Skewed = { skewMs: 0, now: () => clock.now() + skewed.skewMs }
      const store = createMemoryStore(skewed)
      return { ...store, ...breakIt(store, skewed) }
    },
  }
}

/** A bug that a lock inside the process hides. Each connection has a lock of its own around every operation. */
export function brokenApart(
  law: number,
  bug: string,
  breakIt: (store: Store) => Partial<Store>,
): BrokenStore {
  const connections = new WeakMap<Store, () => Store>()
  return {
    law,
    bug,
    create(clock) {
      const sound = createMemoryStore(clock)
      const unsafe: Store = { ...sound, ...breakIt(sound) }
      const store = locked(unsafe)
      connections.set(store, () => locked(unsafe))
      return store
    },
    connect: (store) => connections.get(store)!(),
  }
}

function locked(store: Store): Store {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn =
    (operation: (...given: unknown[]) => Promise<unknown>) =>
    (...given: unknown[]) => {
      const turn = last.then(() => operation(...given))
      last = turn.catch(() => undefined)
      return turn
    }
  const operations = Object.entries(store).map(([name, operation]) => [name, inTurn(operation)])
  return Object.fromEntries(operations) as Store
}

/** Changes runs in every operation that reads them. */
export function reading(
  store: Store,
  change: (run: Run) => Run,
): Pick<Store, "findRuns" | "readRuns" | "claim"> {
  const readRuns = async (ids: readonly string[]) => (await store.readRuns(ids)).map(change)
  return {
    readRuns,
    findRuns: async (filter, page) => {
      const ids = (await store.findRuns(filter, page)).map(({ id }) => id)
      const runs = new Map((await readRuns(ids)).map((run) => [run.id, run]))
      return ids.flatMap((id) => runs.get(id) ?? []).map(summaryOf)
    },
    claim: async (request) => {
      const answer = await store.claim(request)
      return { ...answer, runs: answer.runs.map(change) }
    },
  }
}

/** Hides these runs from reads. */
export function hiding(store: Store, gone: ReadonlySet<string>): Pick<Store, "findRuns" | "readRuns"> {
  const isShown = ({ id }: { readonly id: string }) => !gone.has(id)
  return {
    findRuns: async (filter, page) => (await store.findRuns(filter, page)).filter(isShown),
    readRuns: async (ids) => (await store.readRuns(ids)).filter(isShown),
  }
}

/** Changes runs in every operation that creates them. */
export function writing(store: Store, change: (run: NewRun) => NewRun): Pick<Store, "enqueue" | "fire"> {
  return {
    enqueue: (runs) => store.enqueue(runs.map(change)),
    fire: (plans) => store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.map(change) }))),
  }
}

/** Changes runs and schedules in every operation that creates them. */
export function keeping(store: Store, change: <T>(record: T) => T): Partial<Store> {
  return {
    ...writing(store, change),
    putSchedule: (schedule, ifVersion) => store.putSchedule(change(schedule), ifVersion),
  }
}

/** Stores runs with other fields, so that the memory store can't keep the law, and shows them with their own. */
export function disguising(
  store: Store,
  disguise: (run: NewRun) => Partial<NewRun>,
): Partial<Store> & {
  readonly shown: (run: Run) => Run
} {
  const originals = new Map<string, Partial<NewRun>>()
  const hide = (run: NewRun): NewRun => {
    const fields = disguise(run)
    const original = Object.fromEntries(
      Object.keys(fields).map((name) => [name, run[name as keyof NewRun]]),
    ) as Partial<NewRun>
    if (!originals.has(run.id)) originals.set(run.id, original)
    return { ...run, ...fields }
  }
  const shown = (run: Run): Run => ({ ...run, ...originals.get(run.id) }) as Run
  return { ...writing(store, hide), ...reading(store, shown), shown }
}

export async function findRun(store: Store, id: string): Promise<Run | undefined> {
  return (await store.readRuns([id]))[0]
}

export async function findSchedule(store: Store, id: string): Promise<Schedule | undefined> {
  return (await store.findSchedules({ ids: [id] }, { orderBy: "id", after: null, limit: 1 }))[0]
}

/** Newest first. */
export async function allRuns(store: Store): Promise<readonly Run[]> {
  const listed = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1_000 })
  const runs = new Map((await store.readRuns(listed.map(({ id }) => id))).map((run) => [run.id, run]))
  return listed.flatMap(({ id }) => runs.get(id) ?? [])
}

export function allWorkers(store: Store): Promise<readonly Worker[]> {
  return store.findWorkers({ afterId: null, limit: 1_000 })
}

/** Like some collations: without case, accents and trailing spaces. */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trimEnd()
}

/** A round trip between a check and a write, in which other callers can act. */
export function roundTrip(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Changes every text in a record, at any depth. */
export function textsOf<T>(record: T, change: (text: string) => unknown): T {
  if (typeof record === "string") return change(record) as T
  if (Array.isArray(record)) return record.map((item) => textsOf(item, change)) as T
  if (record === null || typeof record !== "object") return record
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, textsOf(value, change)])) as T
}

/** Handles the elements of a call one by one. */
export async function each<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const answers: R[] = []
  for (const item of items) answers.push(await act(item))
  return answers
}

/** Changes schedules when they are read. */
export function showing(
  store: Store,
  change: (schedule: Schedule) => Schedule,
): Pick<Store, "findSchedules"> {
  return { findSchedules: async (filter, page) => (await store.findSchedules(filter, page)).map(change) }
}
