import type { Run, RunChange } from "../run/run.ts"
import { NO_PROGRESS, NO_RUNS, type Schedule } from "../schedule/schedule.ts"
import { assertValidRun, assertValidSchedule, DATE_MAX } from "./valid-records.ts"

/**
 * A schedule that can't be read completely: the parts that can be read, and why the rest can't. It is due like any
 * other. Its plan stores `why` as `lastError`, and the schedule then waits until it is repaired.
 */
export function unreadableSchedule(
  known: Pick<Schedule, "id" | "version"> & Partial<Schedule>,
  why: string,
): Schedule {
  const base = { ...BLANK_SCHEDULE, id: known.id, version: UNREADABLE_VERSION }
  const sound = soundPartsOf<Schedule>(known, base, assertValidSchedule)
  return { ...sound, triggers: [{ kind: "unreadable", why }], lastError: why }
}

/**
 * Stands for a version that can't be read. Stores count from 1, and match this value with any version that is not a number. So
 * the schedule can be planned, replaced and deleted, and the next change gives it a proper version.
 */
export const UNREADABLE_VERSION = 0

const BLANK_SCHEDULE: Omit<Schedule, "id" | "version"> = {
  revision: 1,
  createdAt: 0,
  updatedAt: 0,
  declaredAs: null,
  task: "",
  payload: null,
  triggers: [],
  timezone: "UTC",
  dst: { gap: "after", overlap: "first" },
  priority: 0,
  jitterMs: 0,
  spacingMs: 0,
  startsAt: null,
  endsAt: null,
  maxRuns: null,
  removeWhenFinished: false,
  catchUp: { policy: "none", graceMs: 0, windowMs: 0, limit: 0 },
  overlap: { policy: "skip", limit: 0 },
  maxConcurrentRuns: null,
  dependsOn: [],
  retry: null,
  timeoutMs: null,
  enabled: true,
  tags: [],
  description: "",
  owner: null,
  release: 0,
  ...NO_PROGRESS,
  ...NO_RUNS,
}

/** A run that can't be read completely: the parts that can be read, and as its error why the rest can't. */
export function unreadableRun(known: Pick<Run, "id"> & Partial<Run>, why: string): Run {
  const placed = { ...known }
  for (const name of SORT_FIELDS) {
    const at = known[name] ?? null
    if (at !== null) placed[name] = withinDates(Number(at))
  }
  const sound = soundPartsOf<Run>(placed, { ...BLANK_RUN, id: known.id }, assertValidRun)
  return { ...sound, error: sound.error ?? why }
}

/** Lists are sorted by these fields, and a page continues after its last run. So an instant out of range stays at its end. */
const SORT_FIELDS = ["createdAt", "scheduledFor", "completedAt"] as const

function withinDates(at: number): number {
  return Math.max(-DATE_MAX, Math.min(at, DATE_MAX))
}

const BLANK_RUN: Omit<Run, "id"> = {
  task: "",
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
  state: "failed",
  claimableAt: null,
  attempt: 0,
  failures: 0,
  lost: 0,
  workerId: null,
  createdAt: 0,
  dueAt: null,
  startedAt: null,
  completedAt: null,
  message: null,
  details: null,
  error: null,
  progress: null,
  attempts: [],
}

/** The base record with every known part that is sound. */
function soundPartsOf<T extends object>(known: Partial<T>, base: T, assertSound: (record: T) => void): T {
  const parts = Object.entries(known).filter(([name, value]) => {
    if (value === undefined || !(name in base)) return false
    try {
      assertSound({ ...base, [name]: value })
      return true
    } catch {
      // The record's error says what is wrong.
      return false
    }
  })
  return { ...base, ...Object.fromEntries(parts) }
}

/** Ends a claimed run that can't be read, because no worker could perform it. */
export function endUnreadable(
  run: { readonly id: string; readonly attempt: number },
  why: string,
): RunChange {
  return {
    runId: run.id,
    ifState: "running",
    ifAttempt: run.attempt,
    state: "failed",
    claimableInMs: null,
    failures: 1,
    lost: 0,
    outcome: "failed",
    message: null,
    details: null,
    error: why,
    progress: null,
    reason: "unreadable",
    by: null,
  }
}
