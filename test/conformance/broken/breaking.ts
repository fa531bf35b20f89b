import type { Instant, NewRun, Run, Schedule, Store, Worker } from "belfry/store"
import { summaryOf } from "../../../src/core/run-summary.ts"
import { createMemoryStore } from "../../../src/stores/memory/memory-store.ts"

/** A store with one bug of the kind that real stores ship, and the law it breaks. */
export interface BrokenStore {
  readonly law: number
  readonly bug: string
  create(clock: { now(): Instant }): Store
  /** Another connection to the same data; without it, the store is its own peer. */
  connect?(store: Store): Store
}

/** What is wrong with it, over a sound memory store. */
export type Bug = (store: Store, clock: Skewed) => Partial<Store>

/** The store's clock, and how wrong it is at the moment. */
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

/** A bug that a lock within the process hides: each connection has a lock of its own, around everything it does. */
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

/** Runs are changed wherever they are read. */
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

/** These runs are no longer shown. */
export function hiding(store: Store, gone: ReadonlySet<string>): Pick<Store, "findRuns" | "readRuns"> {
  const isShown = ({ id }: { readonly id: string }) => !gone.has(id)
  return {
    findRuns: async (filter, page) => (await store.findRuns(filter, page)).filter(isShown),
    readRuns: async (ids) => (await store.readRuns(ids)).filter(isShown),
  }
}

/** Runs are changed wherever they are created. */
export function writing(store: Store, change: (run: NewRun) => NewRun): Pick<Store, "enqueue" | "fire"> {
  return {
    enqueue: (runs) => store.enqueue(runs.map(change)),
    fire: (plans) => store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.map(change) }))),
  }
}

/** Records are kept as this makes them: runs, schedules, both ways of creating. */
export function keeping(store: Store, change: <T>(record: T) => T): Partial<Store> {
  return {
    ...writing(store, change),
    putSchedule: (schedule, ifVersion) => store.putSchedule(change(schedule), ifVersion),
  }
}

/** Runs are stored without some fields, so that the memory store can't keep the law, and shown with them. */
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

/** As collations fold it: without case, accents and trailing spaces. */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trimEnd()
}

/** What a round trip between a check and a write gives to others. */
export function roundTrip(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Every text in a record, wherever it lies. */
export function textsOf<T>(record: T, change: (text: string) => unknown): T {
  if (typeof record === "string") return change(record) as T
  if (Array.isArray(record)) return record.map((item) => textsOf(item, change)) as T
  if (record === null || typeof record !== "object") return record
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, textsOf(value, change)])) as T
}

/** One call's elements, each by itself. */
export async function each<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const answers: R[] = []
  for (const item of items) answers.push(await act(item))
  return answers
}

/** Schedules are shown otherwise than they are. */
export function showing(
  store: Store,
  change: (schedule: Schedule) => Schedule,
): Pick<Store, "findSchedules"> {
  return { findSchedules: async (filter, page) => (await store.findSchedules(filter, page)).map(change) }
}
