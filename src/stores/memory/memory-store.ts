import { BelfryError } from "../../core/errors.ts"
import type { FirePlan } from "../../core/planning/plan.ts"
import type { NewJournalEntry } from "../../core/records/journal.ts"
import { isFinished, type NewRun, type RunChange } from "../../core/run/run.ts"
import { scheduleStateOf } from "../../core/schedule/schedule-state.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import type { Instant } from "../../core/time/instant.ts"
import type {
  AppendAnswer,
  ClaimRequest,
  EnqueueAnswer,
  FireAnswer,
  Heartbeat,
  Hint,
  LogLine,
  LogPage,
  PruneRequest,
  ScheduleFilter,
  Store,
  Swap,
  TransitionAnswer,
} from "../../store/store.ts"
import { runCountsOf, scheduleCountsOf } from "../kit/counts.ts"
import { HintListeners } from "../kit/hint-listeners.ts"
import {
  hintsOfEnqueue,
  hintsOfFire,
  hintsOfSwap,
  hintsOfTransition,
  isDueSooner,
} from "../kit/hints-of-writes.ts"
import { applyIsolated, finite, jsonText, unstorable, unstorableRun } from "../kit/isolation.ts"
import { isWantedSchedule, pageOfSchedules } from "../kit/schedule-pages.ts"
import { claimRuns, nextClaimableAt } from "./claiming.ts"
import { Documents } from "./documents.ts"
import { findRuns, pageOfWorkers, statesOfRuns } from "./finding.ts"
import { Journal } from "./journal.ts"
import { pageOfLog } from "./log.ts"
import { MemoryTables } from "./memory-tables.ts"

/**
 * A store in the memory of one process: for tests, for trials, and for schedules that needn't outlive the process. JavaScript
 * runs one operation at a time, so each operation is an atom. Records are never changed in place, so a returned record doesn't
 * change.
 */
export function createMemoryStore(clock: { now(): Instant }): Store {
  const tables = new MemoryTables()
  const documents = new Documents()
  const journal = new Journal()
  const listeners = new HintListeners()
  let isClosed = false

  const sendHints = (hints: readonly Hint[]) => {
    for (const hint of hints) listeners.notify(hint)
  }

  /** Every operation goes through here: it throws if the store is closed, and reads "now" once. */
  async function operate<T>(operation: (now: Instant) => T): Promise<T> {
    if (isClosed) throw new BelfryError("BELFRY_STORE_CLOSED", "The memory store was closed.")
    return operation(clock.now())
  }

  return {
    open: () => operate(() => undefined),
    async close() {
      isClosed = true
      listeners.clear()
    },
    now: () => operate((now) => now),
    listen: (onHint) =>
      operate(() => {
        const stop = listeners.add(onHint)
        return async () => stop()
      }),

    putSchedule: (schedule, ifVersion, entry) =>
      operate((now) => {
        const stored = tables.schedules.get(schedule.id)
        if ((stored?.version ?? null) !== ifVersion) return { outcome: "stale" }
        jsonText(schedule.payload)
        if (entry !== undefined) Journal.check(entry)
        const next = ++tables.lastVersion
        tables.schedules.set(schedule.id, storedSchedule(schedule, next, stored))
        if (entry !== undefined) journal.add(entry, now)
        const swap: Swap = { outcome: "done", version: next }
        sendHints(hintsOfSwap(swap, "schedules"))
        return swap
      }),
    dueSchedules: (request) => operate((now) => tables.dueSchedules(now, request)),
    fire: (plans: readonly FirePlan[]) =>
      operate((now) => {
        const isSooner = plans.map((plan) =>
          isDueSooner(plan, tables.schedules.get(plan.scheduleId)?.nextRunAt ?? null),
        )
        const answers = applyIsolated(plans, (plan) => firePlan({ tables, journal }, plan, now), unstorable)
        sendHints(hintsOfFire(plans, answers, isSooner))
        return answers
      }),

    enqueue: (runs: readonly NewRun[]) =>
      operate((now) => {
        const answers = applyIsolated(runs, (run) => addRun(tables, run, now), unstorableRun)
        sendHints(hintsOfEnqueue(runs, answers))
        return answers
      }),
    claim: (request: ClaimRequest) =>
      operate((now) => {
        const runs = claimRuns(tables, request, now)
        return { now, runs, nextClaimableAt: nextClaimableAt(tables, request, runs, now) }
      }),
    heartbeat: (beat: Heartbeat) => operate((now) => ({ now, ...tables.beat(beat, now) })),
    transition: (changes: readonly RunChange[]) =>
      operate((now) => {
        const answers = applyIsolated(changes, (change) => applyChange(tables, change, now), unstorable)
        const mayFreeRuns = changes.some(
          ({ runId }, index) =>
            answers[index]!.outcome === "done" && tables.runs.get(runId)!.concurrencyLimit !== null,
        )
        sendHints(hintsOfTransition(changes, answers, mayFreeRuns))
        return answers
      }),
    prune: (request: PruneRequest) =>
      operate((now) => ({
        ...tables.prune(request, now),
        entries: journal.prune(now - request.journalOlderThanMs, request.limit),
      })),

    appendLogs: (lines: readonly LogLine[]) => operate((now) => tables.appendLogs(lines, now)),
    readLogs: (page: LogPage) => operate(() => pageOfLog(tables.logs.get(page.runId) ?? [], page)),

    putDocument: (document, ifVersion, entry) =>
      operate((now) => {
        if (documents.versionOf(document) !== ifVersion) return { outcome: "stale" }
        jsonText(document.value)
        if (entry !== undefined) Journal.check(entry)
        const version = ++tables.lastVersion
        documents.put(document, version, now)
        if (entry !== undefined) journal.add(entry, now)
        const swap: Swap = { outcome: "done", version }
        sendHints(hintsOfSwap(swap, "documents"))
        return swap
      }),
    findDocuments: (filter, page) => operate(() => documents.page(filter, page)),
    appendJournal: (entries) =>
      operate((now) => {
        const append = (entry: NewJournalEntry): AppendAnswer => {
          Journal.check(entry)
          journal.add(entry, now)
          return { outcome: "done" }
        }
        return applyIsolated(entries, append, unstorable)
      }),
    readJournal: (filter, page) => operate(() => journal.page(filter, page)),

    findSchedules: (filter: ScheduleFilter, page) =>
      operate((now) => {
        const schedules = [...tables.schedules.values()]
        return pageOfSchedules(
          schedules.filter((schedule) => isWantedSchedule(schedule, filter, now)),
          page,
        )
      }),
    findRuns: (filter, page) => operate(() => findRuns(tables.runs.values(), filter, page)),
    readRuns: (ids) => operate(() => [...new Set(ids)].flatMap((id) => tables.runs.get(id) ?? [])),
    count: ({ runs, schedules, limit }) =>
      operate((now) => {
        const stored = [...tables.schedules.values()]
        const wanted =
          schedules === undefined ? [] : stored.filter((each) => isWantedSchedule(each, schedules, now))
        return {
          runs: runCountsOf(runs === undefined ? [] : statesOfRuns(tables.runs.values(), runs), limit),
          ...scheduleCountsOf(
            wanted.map((each) => [each.task, scheduleStateOf(each, now), 1]),
            limit,
          ),
        }
      }),
    summarise: (request) => operate((now) => tables.statistics.summarise(request, now)),
    findWorkers: (page) => operate(() => pageOfWorkers(tables.workers.values(), page)),
  }
}

/** Values are stored as they are. Writing them as JSON only checks that other stores could store them, too. */
function addRun(tables: MemoryTables, run: NewRun, now: Instant): EnqueueAnswer {
  jsonText(run.payload)
  finite(run.delayMs ?? 0)
  return tables.addRun(run, now)
}

/** Applies the whole plan, or nothing. */
function firePlan(
  { tables, journal }: { tables: MemoryTables; journal: Journal },
  plan: FirePlan,
  now: Instant,
): FireAnswer {
  const schedule = tables.schedules.get(plan.scheduleId)
  if (schedule?.version !== plan.ifVersion) return { outcome: "stale" }
  const keys = plan.runs
    .filter((run) => run.state === "pending" && run.liveKey !== null && !tables.runs.has(run.id))
    .map((run) => run.liveKey)
  const isHeld =
    new Set(keys).size < keys.length || keys.some((key) => tables.unfinished.holderOf(key) !== undefined)
  if (isHeld) return { outcome: "held" }
  for (const { payload } of plan.runs) jsonText(payload)
  if (plan.entry !== undefined) Journal.check(plan.entry)

  if (plan.progress === null) tables.schedules.delete(schedule.id)
  else tables.schedules.set(schedule.id, { ...schedule, ...plan.progress, version: ++tables.lastVersion })
  const answers = plan.runs.map((run) => tables.addRun(run, now))
  if (plan.entry !== undefined) journal.add(plan.entry, now)
  return {
    outcome: "done",
    created: answers.filter((answer) => answer.outcome === "created").map((answer) => answer.runId),
  }
}

function applyChange(tables: MemoryTables, change: RunChange, now: Instant): TransitionAnswer {
  const run = tables.runs.get(change.runId)
  if (run === undefined) return { outcome: "stale", state: null, attempt: 0 }
  if (run.state !== change.ifState || run.attempt !== change.ifAttempt) {
    return { outcome: "stale", state: run.state, attempt: run.attempt }
  }
  const isRetried = isFinished(run.state) && !isFinished(change.state)
  if (isRetried && tables.unfinished.holderOf(run.liveKey) !== undefined) return { outcome: "held" }
  jsonText(change.details)
  finite(change.claimableInMs ?? 0)
  tables.changeRun(run, change, now)
  return { outcome: "done" }
}
