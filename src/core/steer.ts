import { rangeUntil } from "./catch-up.ts"
import { BelfryError } from "./errors.ts"
import { type FirePlan, planFrom, planOf, planResume } from "./fire.ts"
import { formatInstant, type Instant } from "./instant.ts"
import { skipRecordOf } from "./new-run.ts"
import { type Occurrence, occurrenceAfter, occurrenceBefore } from "./occurrence.ts"
import { type OccurrenceOverride, OVERRIDES_MAX, type Schedule } from "./schedule.ts"

/** What an operator does to a schedule, each as a plan like a fire: guarded by the version, with its records. */

export interface Why {
  readonly reason: string | null
  readonly by: string | null
}

/** Occurrences are dropped from here on; the interval is recorded when it ends. Pausing again changes why and until. */
export function pause(schedule: Schedule, why: Why & { until: Instant | null }, now: Instant): FirePlan {
  if (why.until !== null && why.until <= now) {
    throw new BelfryError(
      "BELFRY_SCHEDULE_INVALID",
      `Schedule "${schedule.id}" can't be paused until ${formatInstant(why.until)}: that is not in the future.`,
    )
  }
  const at = schedule.paused?.at ?? now
  return planOf(schedule, { paused: { at, ...why }, nextRunAt: why.until })
}

/** Null if it isn't paused: resuming twice is resuming once. */
export function resume(schedule: Schedule, now: Instant): FirePlan | null {
  return schedule.paused === null ? null : planResume(schedule, now)
}

/** Leaves out one occurrence to come: the given one, or the next. */
export function skip(schedule: Schedule, scheduledFor: Instant | null, why: Why, now: Instant): FirePlan {
  const occurrence = occurrenceToCome(schedule, scheduledFor, now)
  return withOverride(schedule, { scheduledFor: occurrence.scheduledFor, dueAt: null, ...why }, now)
}

/** Another time for one occurrence; it keeps its identity, so it can't pass its neighbours. */
export function move(
  schedule: Schedule,
  scheduledFor: Instant | null,
  to: Instant,
  why: Why,
  now: Instant,
): FirePlan {
  const occurrence = occurrenceToCome(schedule, scheduledFor, now)
  const before = occurrenceBefore(schedule, occurrence.scheduledFor)
  const after = occurrenceAfter(schedule, occurrence.scheduledFor)
  const isBetween = (before === null || to > before.dueAt) && (after === null || to < after.scheduledFor)
  if (to <= now || !isBetween) {
    const bounds = [before?.dueAt, after?.scheduledFor].map((at) =>
      at === undefined ? "…" : formatInstant(at),
    )
    throw new BelfryError(
      "BELFRY_OCCURRENCE_INVALID",
      `The occurrence of "${schedule.id}" at ${formatInstant(occurrence.scheduledFor)} can't be moved to ${formatInstant(to)}: ` +
        `choose a time after now and between its neighbours (${bounds.join(" and ")}).`,
    )
  }
  return withOverride(schedule, { scheduledFor: occurrence.scheduledFor, dueAt: to, ...why }, now)
}

/** Takes back a skip or a move. */
export function restore(schedule: Schedule, scheduledFor: Instant, now: Instant): FirePlan | null {
  if (!schedule.overrides.some((override) => override.scheduledFor === scheduledFor)) return null
  const overrides = schedule.overrides.filter((override) => override.scheduledFor !== scheduledFor)
  return withOverrides(schedule, overrides, now)
}

/** The next occurrence is at `to`, whatever the timetable says; those it replaces are recorded, then on from there. */
export function reschedule(schedule: Schedule, to: Instant, why: Why, now: Instant): FirePlan {
  if (to < now) {
    throw new BelfryError(
      "BELFRY_OCCURRENCE_INVALID",
      `"${schedule.id}" can't be rescheduled to ${formatInstant(to)}: that is in the past.`,
    )
  }
  const coveredUntil = schedule.coveredUntil ?? now
  const added: OccurrenceOverride = { scheduledFor: to, dueAt: to, ...why }
  const next = occurrenceAfter(schedule, coveredUntil)
  const passed = occurrenceBefore(schedule, to)
  const message = why.reason ?? `Rescheduled to ${formatInstant(to)}`
  // Later than the next one: all up to the new time are passed over, in one record.
  if (passed !== null && passed.scheduledFor > coveredUntil) {
    const range = rangeUntil(schedule, coveredUntil, passed.scheduledFor)
    const moved = { ...schedule, coveredUntil: passed.scheduledFor }
    const plan = withOverrides(moved, [...dropUntil(schedule, passed.scheduledFor, to), added], now)
    return { ...plan, runs: [skipRecordOf(schedule, range, { reason: "operator", message })] }
  }
  // Earlier: the one it replaces is left out when its time comes.
  const replaced =
    next === null || next.scheduledFor === to
      ? []
      : [{ ...why, scheduledFor: next.scheduledFor, dueAt: null, reason: message }]
  const others = schedule.overrides.filter(
    ({ scheduledFor }) => scheduledFor !== to && scheduledFor !== next?.scheduledFor,
  )
  return withOverrides({ ...schedule, coveredUntil }, [...others, added, ...replaced], now)
}

function dropUntil(schedule: Schedule, passed: Instant, to: Instant): readonly OccurrenceOverride[] {
  return schedule.overrides.filter(({ scheduledFor }) => scheduledFor > passed && scheduledFor !== to)
}

function occurrenceToCome(schedule: Schedule, scheduledFor: Instant | null, now: Instant): Occurrence {
  const coveredUntil = schedule.coveredUntil ?? now
  const found = occurrenceAfter(schedule, scheduledFor === null ? coveredUntil : scheduledFor - 1)
  const isToCome = found !== null && found.scheduledFor > coveredUntil
  if (isToCome && (scheduledFor === null || found.scheduledFor === scheduledFor)) return found
  const asked =
    scheduledFor === null
      ? "no occurrence to come"
      : `no occurrence to come at ${formatInstant(scheduledFor)}`
  const hint = found === null ? "" : ` The next is at ${formatInstant(found.scheduledFor)}.`
  throw new BelfryError("BELFRY_OCCURRENCE_INVALID", `Schedule "${schedule.id}" has ${asked}.${hint}`)
}

function withOverride(schedule: Schedule, override: OccurrenceOverride, now: Instant): FirePlan {
  const others = schedule.overrides.filter((entry) => entry.scheduledFor !== override.scheduledFor)
  return withOverrides(schedule, [...others, override], now)
}

function withOverrides(schedule: Schedule, overrides: readonly OccurrenceOverride[], now: Instant): FirePlan {
  if (overrides.length > OVERRIDES_MAX) {
    throw new BelfryError(
      "BELFRY_OCCURRENCE_INVALID",
      `Schedule "${schedule.id}" has ${OVERRIDES_MAX} skipped or moved occurrences already; change its timetable instead.`,
    )
  }
  const changed = { ...schedule, overrides }
  const coveredUntil = schedule.coveredUntil ?? now
  const next = occurrenceAfter(changed, coveredUntil)
  const isWaiting = schedule.paused === null && schedule.enabled
  return planOf(changed, {
    coveredUntil,
    nextRunAt: isWaiting ? (next?.dueAt ?? null) : schedule.nextRunAt,
    finishedAt: next === null ? (schedule.finishedAt ?? now) : null,
  })
}

/** A new definition, or a new beginning: on from `now`, unless it is disabled or paused. */
export function planAnew(schedule: Schedule, now: Instant): Schedule {
  const progress = planFrom(schedule, now)
  if (!schedule.enabled) return { ...schedule, ...progress, nextRunAt: null }
  return schedule.paused === null
    ? { ...schedule, ...progress }
    : { ...schedule, ...progress, nextRunAt: schedule.paused.until }
}
