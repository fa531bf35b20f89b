import { assert } from "../core/errors.ts"
import type { FirePlan } from "../core/planning/plan.ts"
import type { NewDocument } from "../core/records/document.ts"
import { isFinished, type NewRun, type Run, type RunChange, UNFINISHED } from "../core/run/run.ts"
import { type RunSummary, summaryOf } from "../core/run/run-summary.ts"
import { storedRun } from "../core/run/stored-run.ts"
import { type NewSchedule, NO_RUNS, type Schedule } from "../core/schedule/schedule.ts"
import { storedSchedule } from "../core/schedule/stored-schedule.ts"
import type { Instant } from "../core/time/instant.ts"
import { isWantedRun } from "../store/run-filter.ts"
import type {
  EnqueueAnswer,
  FireAnswer,
  RunFilter,
  RunPage,
  ScheduleFilter,
  SchedulePage,
  Store,
  Swap,
  TransitionAnswer,
} from "../store/store.ts"
import { withOperations } from "../store/with-operations.ts"

/**
 * A store that answers writes as the given store would, and stores nothing. So a dry run makes the real changes and gets the real
 * refusals. Written records are kept in memory. Reads by id, and of the unfinished runs of a key, return them; other lists read
 * the given store only.
 */
export function dryStore(store: Store): Store {
  const dry = new DryWrites(store)
  const own: Partial<Store> = {
    putSchedule: (schedule, ifVersion) => dry.put(schedule.id, schedule, ifVersion),
    fire: (plans) => inOrder(plans, (plan) => dry.fire(plan)),
    enqueue: (runs) => inOrder(runs, (run) => dry.enqueue(run)),
    transition: (changes) => inOrder(changes, (change) => dry.change(change)),
    findSchedules: (filter, page) => dry.findSchedules(filter, page),
    findRuns: (filter, page) => dry.findRuns(filter, page),
    readRuns: (ids) => dry.readRuns(ids),
    putDocument: (document, ifVersion) => dry.putDocument(document, ifVersion),
    appendJournal: async (entries) => entries.map(() => ({ outcome: "done" })),
    ...refusing("dueSchedules", "claim", "heartbeat", "prune", "appendLogs"),
  }
  return withOperations(store, own)
}

/** One after another: each element sees the writes of the elements before it. */
async function inOrder<Element, Answer>(
  elements: readonly Element[],
  answer: (element: Element) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (const element of elements) answers.push(await answer(element))
  return answers
}

function refusing(...names: readonly (keyof Store)[]): Partial<Store> {
  const refuse = async () => assert(false, "a dry run neither fires schedules nor performs runs")
  return Object.fromEntries(names.map((name) => [name, refuse]))
}

class DryWrites {
  readonly #store: Store
  /** Null: deleted. */
  readonly #schedules = new Map<string, Schedule | null>()
  readonly #runs = new Map<string, Run>()

  constructor(store: Store) {
    this.#store = store
  }

  async put(id: string, schedule: NewSchedule | null, ifVersion: number | null): Promise<Swap> {
    const stored = await this.#schedule(id)
    if ((stored?.version ?? null) !== ifVersion) return { outcome: "stale" }
    const version = (stored?.version ?? 0) + 1
    const written = schedule === null ? null : storedSchedule(schedule, version, stored ?? NO_RUNS)
    this.#schedules.set(id, written)
    return { outcome: "done", version }
  }

  async fire({ scheduleId, ifVersion, progress, runs }: FirePlan): Promise<FireAnswer> {
    const stored = await this.#schedule(scheduleId)
    if (stored === null || stored.version !== ifVersion) return { outcome: "stale" }
    for (const run of runs) {
      const isNew = run.state === "pending" && (await this.#run(run.id)) === null
      if (isNew && (await this.#holderOf(run)) !== null) return { outcome: "held" }
    }
    await this.put(scheduleId, progress === null ? null : { ...stored, ...progress }, ifVersion)
    const answers = await inOrder(runs, (run) => this.enqueue(run))
    const created = answers.filter(({ outcome }) => outcome === "created")
    return { outcome: "done", created: created.map(({ runId }) => runId) }
  }

  async enqueue(run: NewRun): Promise<EnqueueAnswer> {
    if ((await this.#run(run.id)) !== null) return { outcome: "exists", runId: run.id }
    const holder = run.state === "pending" ? await this.#holderOf(run) : null
    if (holder !== null) return { outcome: "held", runId: holder.id }
    const now = await this.#store.now()
    this.#runs.set(run.id, storedRun(run, now))
    if (run.state !== "skipped") await this.#count(run, now)
    return { outcome: "created", runId: run.id }
  }

  /** Counts the run with its schedule, as a store does when it creates a run. */
  async #count({ id, scheduleId }: NewRun, now: Instant): Promise<void> {
    const stored = scheduleId === null ? null : await this.#schedule(scheduleId)
    if (stored === null) return
    const counts = { runCount: stored.runCount + 1, lastRunId: id, lastRunAt: now }
    this.#schedules.set(stored.id, { ...stored, ...counts })
  }

  async change({ runId, ifState, ifAttempt, state }: RunChange): Promise<TransitionAnswer> {
    const run = await this.#run(runId)
    if (run === null) return { outcome: "stale", state: null, attempt: 0 }
    if (run.state !== ifState || run.attempt !== ifAttempt)
      return { outcome: "stale", state: run.state, attempt: run.attempt }
    const isRevived = isFinished(run.state) && !isFinished(state)
    if (isRevived && (await this.#holderOf(run)) !== null) return { outcome: "held" }
    this.#runs.set(runId, { ...run, state })
    return { outcome: "done" }
  }

  async putDocument({ kind, id }: NewDocument, ifVersion: number | null): Promise<Swap> {
    const [stored] = await this.#store.findDocuments({ kind, ids: [id] }, { afterId: null, limit: 1 })
    if ((stored?.version ?? null) !== ifVersion) return { outcome: "stale" }
    return { outcome: "done", version: (stored?.version ?? 0) + 1 }
  }

  async findSchedules(filter: ScheduleFilter, page: SchedulePage): Promise<readonly Schedule[]> {
    const { ids } = filter
    const stored = await this.#store.findSchedules(filter, page)
    if (ids === undefined) return stored
    const others = stored.filter(({ id }) => !this.#schedules.has(id))
    const written = ids.map((id) => this.#schedules.get(id) ?? null).filter((each) => each !== null)
    return [...others, ...written].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, page.limit)
  }

  async findRuns(filter: RunFilter, page: RunPage): Promise<readonly RunSummary[]> {
    const { ids, concurrencyKey } = filter
    const stored = await this.#store.findRuns(filter, page)
    if (ids === undefined && concurrencyKey === undefined) return stored
    const others = stored.filter(({ id }) => !this.#runs.has(id))
    // All written runs are on the first page.
    const written =
      page.after === null ? [...this.#runs.values()].filter((run) => isWantedRun(run, filter)) : []
    return [...written.toReversed().map(summaryOf), ...others].slice(0, page.limit)
  }

  async readRuns(ids: readonly string[]): Promise<readonly Run[]> {
    const stored = await this.#store.readRuns(ids.filter((id) => !this.#runs.has(id)))
    return [...stored, ...ids.flatMap((id) => this.#runs.get(id) ?? [])]
  }

  async #schedule(id: string): Promise<Schedule | null> {
    const [schedule] = await this.findSchedules({ ids: [id] }, { orderBy: "id", after: null, limit: 1 })
    return schedule ?? null
  }

  async #run(id: string): Promise<Run | null> {
    const [run] = await this.readRuns([id])
    return run ?? null
  }

  /** Searches the unfinished runs with the run's concurrency key, or else all unfinished runs of its task. */
  async #holderOf({ id, liveKey, concurrencyKey, task }: NewRun | Run): Promise<RunSummary | null> {
    if (liveKey === null) return null
    const filter = { ...(concurrencyKey === null ? { task } : { concurrencyKey }), states: UNFINISHED }
    const stored = await this.#store.findRuns(filter, { ...NEWEST, limit: READ_MAX })
    const written = [...this.#runs.values()].filter(({ state }) => !isFinished(state))
    const unfinished = [...written, ...stored.filter((run) => !this.#runs.has(run.id))]
    return unfinished.find((run) => run.liveKey === liveKey && run.id !== id) ?? null
  }
}

const NEWEST = { orderBy: "createdAt", after: null, limit: 1 } as const
/** A dry run looks for the holder among this many of the newest unfinished runs of a key or task. */
const READ_MAX = 1_000
