import { BelfryError } from "../../src/core/errors.ts"
import { defineSchedule, newSchedule } from "../../src/core/options/definition.ts"
import type { ScheduleOptions } from "../../src/core/options/options.ts"
import { planFire } from "../../src/core/planning/fire.ts"
import { type FireFacts, NO_FACTS, type Plan } from "../../src/core/planning/plan.ts"
import { DEFAULT_RETRY } from "../../src/core/run/backoff.ts"
import type { NewRun, RunRef } from "../../src/core/run/run.ts"
import type {
  OccurrenceOverride,
  Schedule,
  ScheduleDefinition,
  ScheduleProgress,
} from "../../src/core/schedule/schedule.ts"
import { storedSchedule } from "../../src/core/schedule/stored-schedule.ts"
import { formatInstant, type Instant } from "../../src/core/time/instant.ts"

/** Records for tests. A call names only the fields that matter; the others have valid defaults. */

/** `at("10:00")` is that time on 2026-03-10, the day of these tests. Also takes a whole instant. */
export function at(text: string): Instant {
  return Date.parse(text.includes("T") ? text : `2026-03-10T${text}Z`)
}

export const shown = (instant: Instant | null) => (instant === null ? null : formatInstant(instant))

/** When every schedule here was created, and its `coveredUntil`. */
export const MADE_AT = at("08:00:00")

/** Hourly, created at 08:00 and covered until then, so first due at 09:00. */
export function aSchedule(options: ScheduleOptions = {}, progress: Partial<Schedule> = {}): Schedule {
  return { ...storedSchedule(newSchedule("report", aDefinition(options), MADE_AT), 7), ...progress }
}

export function aDefinition(
  options: ScheduleOptions = {},
  context: Partial<Parameters<typeof defineSchedule>[1]> = {},
): ScheduleDefinition {
  const hasTrigger = ["cron", "every", "at", "in", "triggers"].some((key) => key in options)
  return defineSchedule(hasTrigger ? options : { cron: "0 * * * *", ...options }, {
    id: "report",
    task: "send",
    payload: null,
    owner: null,
    release: 0,
    now: MADE_AT,
    ...context,
  })
}

export function aRunRef(fields: Partial<RunRef> = {}): RunRef {
  return { id: "report@2026-03-10T08:00:00Z", state: "running", attempt: 1, failures: 0, lost: 0, ...fields }
}

export function withUnfinished(...unfinished: readonly RunRef[]): FireFacts {
  return { ...NO_FACTS, unfinished }
}

export function aRetry(fields: Partial<typeof DEFAULT_RETRY> = {}) {
  return { ...DEFAULT_RETRY, ...fields }
}

/** The schedule as it is stored after the plan. */
export function applied(schedule: Schedule, plan: Plan): Schedule {
  if (plan.progress === null) throw new Error(`The plan deletes ${schedule.id}`)
  return { ...schedule, ...plan.progress, version: schedule.version + 1 }
}

export function progressAfter(plan: Plan | null): ScheduleProgress {
  if (!plan?.progress) throw new Error("The plan has no progress")
  return plan.progress
}

/** Fires at each of these times in turn, without facts. Returns all runs, and the schedule at the end. */
export function firedAt(schedule: Schedule, ...times: readonly Instant[]) {
  let current = schedule
  const runs: NewRun[] = []
  for (const now of times) {
    const plan = planFire(current, NO_FACTS, now)
    runs.push(...plan.runs)
    current = applied(current, plan)
  }
  return { schedule: current, runs }
}

/** An operator skipped the occurrence. */
export function skipped(time: string): OccurrenceOverride {
  return { scheduledFor: at(time), dueAt: null, reason: null, by: null }
}

/** An operator moved the occurrence. */
export function moved(time: string, to: string): OccurrenceOverride {
  return { scheduledFor: at(time), dueAt: at(to), reason: null, by: null }
}

/** `09:00 to 09:30 (reason, by)`, `09:00 left out`. */
export function changes(overrides: readonly OccurrenceOverride[]): readonly string[] {
  return overrides.map(({ scheduledFor, dueAt, reason, by }) => {
    const change = dueAt === null ? "left out" : `to ${clock(dueAt)}`
    return `${clock(scheduledFor)} ${change} (${reason}, ${by})`
  })
}

/** Runs as readable texts: `09:00 schedule`, `09:00 skipped operator`, `09:00-11:00 (3) skipped missed`. */
export function ledger(runs: readonly NewRun[]): readonly string[] {
  return runs.map((run) => {
    const range = run.state === "skipped" && run.missed ? run.missed : null
    const when = range
      ? `${clock(range.from)}-${clock(range.until)} (${range.count})`
      : clock(run.scheduledFor!)
    return `${when} ${run.state === "skipped" ? `skipped ${run.reason}` : run.triggeredBy}`
  })
}

export function clock(instant: Instant | null): string {
  if (instant === null) return "never"
  const [date, time] = new Date(instant).toISOString().split("T") as [string, string]
  const short = time.replace(/(:00)?\.000Z$/, "").replace("Z", "")
  return date === "2026-03-10" ? short : `${date} ${short}`
}

export function thrownBy(action: () => unknown): BelfryError {
  try {
    action()
  } catch (error) {
    if (error instanceof BelfryError) return error
    throw error
  }
  throw new Error("Nothing was thrown")
}
