import type { Run, RunChange } from "./run.ts"
import { NO_PROGRESS, NO_RUNS, type Schedule } from "./schedule.ts"
import { assertSoundRun, assertSoundSchedule, DATE_MAX } from "./sound.ts"

/**
 * A schedule that can't be read whole: what of it can be, and why the rest can't. It is due like any other, its plan says why
 * nothing comes of it, and then it waits for somebody to mend it.
 */
export function unreadableSchedule(
  known: Pick<Schedule, "id" | "version"> & Partial<Schedule>,
  why: string,
): Schedule {
  const base = { ...NOTHING_SAID, id: known.id, version: UNREADABLE_VERSION }
  const sound = soundPartsOf<Schedule>(known, base, assertSoundSchedule)
  return { ...sound, triggers: [{ kind: "unreadable", why }], lastError: why }
}

/**
 * The version of a schedule whose version can't be read. Stores count from 1, and take this one for any that isn't a number: so
 * the schedule can be planned, replaced and deleted, and the next change gives it a version of its own.
 */
export const UNREADABLE_VERSION = 0

const NOTHING_SAID: Omit<Schedule, "id" | "version"> = {
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

/** A run that can't be read whole: what of it can be, and why the rest can't, as its error. */
export function unreadableRun(known: Pick<Run, "id"> & Partial<Run>, why: string): Run {
  const placed = { ...known }
  for (const name of ORDERS) {
    const at = known[name] ?? null
    if (at !== null) placed[name] = withinDates(Number(at))
  }
  const sound = soundPartsOf<Run>(placed, { ...NOTHING_KNOWN, id: known.id }, assertSoundRun)
  return { ...sound, error: sound.error ?? why }
}

/** Lists are in these orders, and go on behind the last run of a page: an instant out of reach must stay at its end of the list. */
const ORDERS = ["createdAt", "scheduledFor", "completedAt"] as const

function withinDates(at: number): number {
  return Math.max(-DATE_MAX, Math.min(at, DATE_MAX))
}

const NOTHING_KNOWN: Omit<Run, "id"> = {
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

/** The parts that are sound by themselves; the base's in place of the others. */
function soundPartsOf<T extends object>(known: Partial<T>, base: T, assertSound: (record: T) => void): T {
  const parts = Object.entries(known).filter(([name, value]) => {
    if (value === undefined || !(name in base)) return false
    try {
      assertSound({ ...base, [name]: value })
      return true
    } catch {
      // Whatever is wrong with it: that is told with the record.
      return false
    }
  })
  return { ...base, ...Object.fromEntries(parts) }
}

/** The end of a run that was given out and can't be read: nobody could perform it. */
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
