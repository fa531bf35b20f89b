import type { FirePlan } from "../../core/planning/plan.ts"
import type { NewDocument } from "../../core/records/document.ts"
import type { NewJournalEntry } from "../../core/records/journal.ts"
import type { NewRun } from "../../core/run/run.ts"
import {
  concurrencyKeyOf,
  type NewSchedule,
  progressOf,
  type Schedule,
} from "../../core/schedule/schedule.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { ClaimRequest, Heartbeat, HeldRun, LogLine, Pruned, PruneRequest } from "../store.ts"

/** Records for tests. A call names only the fields that matter; the others have valid defaults. Each record has a new id. */

export function aSchedule(over: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id: newId("schedule"),
    revision: 1,
    createdAt: AN_INSTANT,
    updatedAt: AN_INSTANT,
    declaredAs: null,
    task: "report",
    payload: null,
    triggers: [{ kind: "cron", cron: "0 7 * * *", dayMatch: "either" }],
    timezone: "UTC",
    dst: { gap: "after", overlap: "first" },
    priority: 0,
    jitterMs: 0,
    spacingMs: 0,
    startsAt: null,
    endsAt: null,
    maxRuns: null,
    removeWhenFinished: false,
    catchUp: { policy: "once", graceMs: 60_000, windowMs: 86_400_000, limit: 100 },
    overlap: { policy: "skip", limit: 1 },
    maxConcurrentRuns: null,
    dependsOn: [],
    retry: null,
    timeoutMs: null,
    enabled: true,
    tags: [],
    description: "",
    owner: null,
    release: 0,
    nextRunAt: null,
    coveredUntil: null,
    overrides: [],
    paused: null,
    firedCount: 0,
    lastError: null,
    finishedAt: null,
    ...over,
  }
}

/** A schedule as a store returns it. Default: no run was created yet. */
export function aStoredSchedule(over: Partial<Schedule> = {}): Schedule {
  return { ...storedSchedule(aSchedule(), 1), ...over }
}

export function aRun(over: Partial<NewRun> = {}): NewRun {
  return {
    id: newId("run"),
    task: "report",
    payload: null,
    priority: 0,
    scheduleId: null,
    scheduledFor: null,
    parentId: null,
    triggeredBy: "api",
    trigger: null,
    missed: null,
    liveKey: null,
    concurrencyKey: null,
    concurrencyLimit: null,
    retry: null,
    timeoutMs: null,
    reason: null,
    by: null,
    state: "pending",
    delayMs: 0,
    notBefore: null,
    message: null,
    ...over,
  }
}

/** A run that counts towards its schedule's concurrency. */
export function aRunOf(scheduleId: string, over: Partial<NewRun> = {}): NewRun {
  return aRun({ scheduleId, concurrencyKey: concurrencyKeyOf(scheduleId), triggeredBy: "schedule", ...over })
}

/** The record of an occurrence that was skipped. */
export function aSkip(over: Partial<NewRun> = {}): NewRun {
  return aRun({ state: "skipped", reason: "overlap", message: "Still unfinished", ...over })
}

/** A plan for a stored schedule. Default: leaves the progress unchanged. */
export function aPlan(schedule: Schedule, over: Partial<FirePlan> = {}): FirePlan {
  return {
    scheduleId: schedule.id,
    ifVersion: schedule.version,
    progress: progressOf(schedule),
    runs: [],
    ...over,
  }
}

export function aClaim(over: Partial<ClaimRequest> = {}): ClaimRequest {
  return { workerId: "worker", tasks: [{ name: "report", leaseMs: LONG_MS }], limit: 100, ...over }
}

export function aHeartbeat(over: Partial<Heartbeat> = {}): Heartbeat {
  return { worker: aWorker(), nextInMs: LONG_MS, isLeaving: false, held: [], statistics: null, ...over }
}

export function aWorker(over: Partial<Heartbeat["worker"]> = {}): Heartbeat["worker"] {
  return {
    ...{ id: "worker", host: "here", pid: 7, tasks: ["report"], slots: 10, state: "active" },
    ...{ roles: ["fire", "work"], version: "1.0.0", labels: {} },
    ...over,
  }
}

export function heldRun(run: { id: string; attempt: number }, over: Partial<HeldRun> = {}): HeldRun {
  return { runId: run.id, attempt: run.attempt, leaseMs: LONG_MS, progress: null, ...over }
}

export function aLogLine(runId: string, over: Partial<LogLine> = {}): LogLine {
  return { runId, attempt: 1, number: 1, level: "info", message: "A line", fields: null, agoMs: 0, ...over }
}

export function aDocument(over: Partial<NewDocument> = {}): NewDocument {
  return { kind: "calendar", id: newId("document"), value: { days: [] }, ...over }
}

export function anEntry(over: Partial<NewJournalEntry> = {}): NewJournalEntry {
  return {
    ...{ id: newId("entry"), action: "paused", subject: "schedule", subjectId: "nightly" },
    ...{ by: null, reason: null, before: null, after: null },
    ...over,
  }
}

/** Default: deletes nothing. */
export function aPruning(over: Partial<PruneRequest> = {}): PruneRequest {
  return {
    ...{ olderThanMs: LONG_MS, keepPerSchedule: 0, silentForMs: LONG_MS, journalOlderThanMs: LONG_MS },
    limit: 100,
    ...over,
  }
}

/** The answer of a prune that deleted only this. */
export function pruned(over: Partial<Pruned> = {}): Pruned {
  return { runs: 0, workers: 0, entries: 0, buckets: 0, ...over }
}

/** 2026-03-27T07:00:00Z, for tests in which nothing depends on the instant. */
export const AN_INSTANT: Instant = 1_774_594_800_000

/** Longer than any test, however slow the server. */
export const LONG_MS = 600_000
/** For periods that a test waits out. A single call may last longer, so no test relies on the period still running. */
export const SHORT_MS = 20
/** Two instants this far apart stay different, whether a store truncates or rounds them. */
export const DISTINCT_MS = 5

let idCount = 0

function newId(noun: string): string {
  idCount++
  return `${noun}-${idCount}`
}
