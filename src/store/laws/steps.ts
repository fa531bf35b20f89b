import assert from "node:assert/strict"
import type { DueFacts } from "../../core/planning/plan.ts"
import type { NewRun, Run } from "../../core/run/run.ts"
import type { RunCounts } from "../../core/run/run-states.ts"
import type { RunSummary } from "../../core/run/run-summary.ts"
import type { NewSchedule, Schedule } from "../../core/schedule/schedule.ts"
import { newScheduleOf } from "../../core/schedule/stored-schedule.ts"
import type { Instant } from "../../core/time/instant.ts"
import type {
  ClaimRequest,
  FireAnswer,
  RunFilter,
  RunPage,
  ScheduleFilter,
  SchedulePage,
  Store,
  StoredLogLine,
  Swap,
  Worker,
} from "../store.ts"
import { aClaim, aHeartbeat, anEntry, aWorker, heldRun, SHORT_MS } from "./factories.ts"
import type { Lab } from "./law.ts"

/** Steps that several cases use. Each fails its case if the store doesn't do it. */

/** Returns the schedule as it is stored, with its version. */
export async function created(store: Store, schedule: NewSchedule): Promise<Schedule> {
  const answer = await store.putSchedule(schedule, null)
  assert.equal(answer.outcome, "done", `schedule ${schedule.id} is new`)
  return scheduleById(store, schedule.id)
}

/** Puts a stored schedule again, with these changes. Stale if the schedule has changed since it was read. */
export function putAgain(
  store: Store,
  schedule: Schedule,
  changes: Partial<NewSchedule> = {},
): Promise<Swap> {
  return store.putSchedule({ ...newScheduleOf(schedule), ...changes }, schedule.version)
}

export async function enqueued(store: Store, run: NewRun): Promise<Run> {
  assert.deepEqual(await store.enqueue([run]), [{ outcome: "created", runId: run.id }])
  return runById(store, run.id)
}

/** Enqueues the run and claims it. */
export async function running(store: Store, run: NewRun, claim: Partial<ClaimRequest> = {}): Promise<Run> {
  await enqueued(store, run)
  return claimed(store, run.id, { tasks: [{ name: run.task, leaseMs: 600_000 }], ...claim })
}

/** Claims, and returns the run with that id. */
export async function claimed(store: Store, id: string, claim: Partial<ClaimRequest> = {}): Promise<Run> {
  const { runs } = await store.claim(aClaim(claim))
  const run = runs.find((each) => each.id === id)
  assert.ok(run, `run ${id} is claimed; the claim gave ${JSON.stringify(runs.map((each) => each.id))}`)
  return run
}

/** A run whose lease has ended without a heartbeat. */
export async function abandoned(
  store: Store,
  lab: Lab,
  run: NewRun,
  claim: Partial<ClaimRequest> = {},
): Promise<Run> {
  const taken = await running(store, run, { tasks: [{ name: run.task, leaseMs: SHORT_MS }], ...claim })
  await lab.pass(2 * SHORT_MS)
  return taken
}

/** Confirms the attempt by a heartbeat, with a short lease. */
export async function confirmed(store: Store, run: Run): Promise<Run> {
  const held = [heldRun(run, { leaseMs: SHORT_MS })]
  const { gone } = await store.heartbeat(aHeartbeat({ worker: aWorker({ id: run.workerId! }), held }))
  assert.deepEqual(gone, [], `run ${run.id} is still held by its worker`)
  return run
}

export async function runById(store: Store, id: string): Promise<Run> {
  const run = await runIfThere(store, id)
  assert.ok(run, `run ${id} is stored`)
  return run
}

export async function runIfThere(store: Store, id: string): Promise<Run | null> {
  const runs = await store.readRuns([id])
  assert.ok(runs.length <= 1, `run ${id} is stored once`)
  return runs[0] ?? null
}

export async function scheduleById(store: Store, id: string): Promise<Schedule> {
  const schedule = await scheduleIfThere(store, id)
  assert.ok(schedule, `schedule ${id} is stored`)
  return schedule
}

export async function scheduleIfThere(store: Store, id: string): Promise<Schedule | null> {
  const schedules = await store.findSchedules({ ids: [id] }, { orderBy: "id", after: null, limit: 10 })
  assert.ok(schedules.length <= 1, `schedule ${id} is stored once`)
  return schedules[0] ?? null
}

/** Deletes the schedule, if its version is still the stored one. */
export async function deleteSchedule(
  store: Store,
  { id, version }: Pick<Schedule, "id" | "version">,
): Promise<FireAnswer> {
  const plan = { scheduleId: id, ifVersion: version, progress: null, runs: [], entry: anEntry() }
  return (await store.fire([plan]))[0]!
}

/** The `after` of a page of schedules that is ordered by id. */
export function afterId(id: string | undefined): SchedulePage["after"] {
  return id === undefined ? null : { at: null, id }
}

export function aPage(over: Partial<RunPage> = {}): RunPage {
  return { orderBy: "createdAt", after: null, limit: 100, ...over }
}

function placeOf(run: RunSummary, orderBy: RunPage["orderBy"]) {
  return { at: orderBy === "id" ? null : run[orderBy], id: run.id }
}

/** The runs of all pages, one page after another. */
export async function pagedRuns(
  store: Store,
  filter: RunFilter,
  page: Partial<RunPage>,
): Promise<readonly RunSummary[]> {
  const { orderBy, limit } = aPage(page)
  const found: RunSummary[] = []
  for (let pages = 0; pages < 100; pages++) {
    const last = found[found.length - 1]
    const after = last === undefined ? null : placeOf(last, orderBy)
    const runs = await store.findRuns(filter, { ...aPage(page), after })
    found.push(...runs)
    if (runs.length < limit) return found
  }
  return assert.fail("the pages come to an end")
}

/** The schedules of all pages, one page after another. */
export async function pagedSchedules(
  store: Store,
  filter: ScheduleFilter,
  page: Partial<SchedulePage>,
): Promise<readonly Schedule[]> {
  const { orderBy = "id", limit = 10 } = page
  const found: Schedule[] = []
  for (let pages = 0; pages < 100; pages++) {
    const last = found.at(-1)
    const after = last === undefined ? null : { at: orderBy === "id" ? null : last[orderBy], id: last.id }
    const schedules = await store.findSchedules(filter, { orderBy, after, limit })
    found.push(...schedules)
    if (schedules.length < limit) return found
  }
  return assert.fail("the pages come to an end")
}

/**
 * A due schedule with its facts. A store may choose which due schedules it returns, and may leave out a schedule that another
 * caller has just read, so this reads again until the schedule is returned.
 */
export async function readDue(
  store: Store,
  lab: Lab,
  id: string,
): Promise<{ schedule: Schedule; facts: DueFacts }> {
  for (let reads = 0; reads < 200; reads++) {
    const { due } = await store.dueSchedules({ limit: 100 })
    const found = due.find(({ schedule }) => schedule.id === id)
    if (found) return found
    await lab.pass(SHORT_MS)
  }
  return assert.fail(`schedule ${id} is due and is returned`)
}

const MARGINS_MS = [100, 400, 1_600, 6_400, 25_600, 102_400]

/**
 * For a proof that makes calls before an instant and then waits for the instant. On a slow machine the instant may pass during
 * these calls; the proof then returns "too late" and is tried again with a larger margin.
 */
export async function withEnoughTime(
  proof: (marginMs: number) => Promise<"proved" | "too late">,
): Promise<void> {
  for (const marginMs of MARGINS_MS) if ((await proof(marginMs)) === "proved") return
  assert.fail(`the store needs longer than ${MARGINS_MS.at(-1)} ms for a few calls`)
}

/** Returns the work's result, and the store's time before and after it: an instant set by the work lies in this span. */
export async function timed<T>(store: Store, work: () => Promise<T>): Promise<{ result: T; span: Span }> {
  const from = await store.now()
  const result = await work()
  const until = await store.now()
  return { result, span: { from, until } }
}

export interface Span {
  readonly from: Instant
  readonly until: Instant
}

/** One instant may be truncated and the other rounded to a millisecond. */
const ROUNDING_MS = 2

/** Asserts that the instant is `ms` after an instant in the span. */
export function assertDated(instant: Instant | null, span: Span, what: string, ms = 0): void {
  const isWithin =
    instant !== null && instant >= span.from + ms - ROUNDING_MS && instant <= span.until + ms + ROUNDING_MS
  const apart = instant === null ? "null" : `${instant - span.from - ms} ms after the call began`
  assert.ok(
    isWithin,
    `${what} is by the store's clock: it is ${apart}, the call took ${span.until - span.from} ms`,
  )
}

export function idsOf(records: readonly { readonly id: string }[]): readonly string[] {
  return records.map((record) => record.id)
}

export function sorted(texts: readonly string[]): readonly string[] {
  return [...texts].sort()
}

/** Counts the answers by outcome. */
export function tally(answers: readonly { readonly outcome: string }[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { outcome } of answers) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

const PEERS = 4

/** The store and three peers on the same data. Concurrent callers are spread over all of them. */
export async function withPeers(store: Store, lab: Lab): Promise<readonly Store[]> {
  const peers = [store]
  while (peers.length < PEERS) peers.push(await lab.openPeer())
  return peers
}

/** Makes that many calls at once, spread over the peers. */
export function together<T>(
  peers: readonly Store[],
  count: number,
  act: (peer: Store, index: number) => Promise<T>,
): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(peerAt(peers, index), index)))
}

/** Not `index % length` alone: cases give even and odd callers different work, and every peer must do both kinds. */
export function peerAt(peers: readonly Store[], index: number): Store {
  return peers[(index + Math.floor(index / peers.length)) % peers.length]!
}

/** The whole log of a run. */
export function logOf(store: Store, runId: string): Promise<readonly StoredLogLine[]> {
  return store.readLogs({ runId, after: null, limit: 1_000 })
}

export function allWorkers(store: Store): Promise<readonly Worker[]> {
  return store.findWorkers({ afterId: null, limit: 100 })
}

export function several<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

export async function countRuns(store: Store, filter: RunFilter = {}): Promise<Readonly<RunCounts>> {
  return (await store.count({ runs: filter, limit: 10_000 })).runs
}
