import { BelfryError } from "../errors.ts"
import {
  isSpent,
  type NewSchedule,
  type OccurrenceOverride,
  OVERRIDES_MAX,
  type Schedule,
} from "../schedule/schedule.ts"
import { formatInstant, type Instant } from "../time/instant.ts"
import { owedUpTo } from "./catch-up.ts"
import {
  newestDue,
  nextToRun,
  type Occurrence,
  occurrenceAfter,
  occurrenceBefore,
  upcomingAfter,
} from "./occurrence.ts"
import { isInOrder } from "./overrides.ts"
import { planPaused, planResume } from "./pausing.ts"
import { type FireFacts, followedBy, type Plan, planFrom, planOf } from "./plan.ts"
import { planOwed } from "./plan-owed.ts"
import { settleSkipped, whySkipped, withoutNext } from "./skipped-by-reschedule.ts"

/** Operations on a schedule, such as a pause. Each is a plan like a fire: guarded by the version, with its records. */

export interface Why {
  readonly reason: string | null
  readonly by: string | null
}

/**
 * Drops occurrences from now on. The interval is recorded when the pause ends. What is owed until now is fired first. Pausing
 * a paused schedule changes the reason and the end.
 */
export function pause(
  schedule: Schedule,
  why: Why & { until: Instant | null },
  facts: FireFacts,
  now: Instant,
): Plan {
  if (why.until !== null && why.until <= now) {
    throw new BelfryError(
      "BELFRY_SCHEDULE_INVALID",
      `Schedule "${schedule.id}" can't be paused until ${formatInstant(why.until)}: that is not in the future.`,
      { details: { id: schedule.id, option: "until", value: formatInstant(why.until) } },
    )
  }
  return beginPause(schedule, why, facts, now)
}

/** Like `pause`, but the end may be in the past. */
export function beginPause(
  schedule: Schedule,
  why: Why & { until: Instant | null },
  facts: FireFacts,
  now: Instant,
): Plan {
  const { reason, by, until } = why
  const paused = { ...schedule, paused: { at: schedule.paused?.at ?? now, reason, by, until } }
  if (!schedule.enabled) return planOf(paused, { nextRunAt: null })
  const isPlanned = schedule.coveredUntil !== null && schedule.lastError === null
  return isPlanned ? planPaused(paused, facts, now) : planOf(paused, { nextRunAt: until })
}

/** Null if the schedule isn't paused: resuming twice has the effect of resuming once. */
export function resume(schedule: Schedule, facts: FireFacts, now: Instant): Plan | null {
  return schedule.paused === null ? null : planResume(upToNow(schedule, now), facts, now)
}

/** A disabled schedule has no occurrences, so the time up to now counts as settled without records. */
function upToNow(schedule: Schedule, now: Instant): Schedule {
  if (schedule.enabled || schedule.coveredUntil === null) return schedule
  const coveredUntil = Math.max(now, schedule.coveredUntil)
  const overrides = schedule.overrides.filter(({ scheduledFor }) => scheduledFor > coveredUntil)
  return { ...schedule, coveredUntil, overrides }
}

/** Skips one future occurrence: the given one, or the next that isn't skipped yet. */
export function skip(schedule: Schedule, scheduledFor: Instant | null, why: Why, now: Instant): Plan {
  const requested = occurrenceToCome(schedule, scheduledFor, now)
  const occurrence = scheduledFor === null ? nextToRun(schedule, requested.scheduledFor - 1) : requested
  if (occurrence === null)
    throw refusedOperation(schedule, `Schedule "${schedule.id}" has no occurrence to come.`)
  return withOverride(schedule, { scheduledFor: occurrence.scheduledFor, dueAt: null, ...why }, now)
}

/** Moves one occurrence to another time. It keeps its `scheduledFor`, so it can't pass its neighbours. */
export function move(
  schedule: Schedule,
  scheduledFor: Instant | null,
  to: Instant,
  why: Why,
  now: Instant,
): Plan {
  const occurrence = occurrenceToCome(schedule, scheduledFor, now)
  const before = occurrenceBefore(schedule, occurrence.scheduledFor)
  const after = occurrenceAfter(schedule, occurrence.scheduledFor)
  const latest = after === null ? null : Math.min(after.scheduledFor, after.dueAt)
  const isBetween = (before === null || to > before.dueAt) && (latest === null || to < latest)
  if (to <= now || !isBetween) {
    const bounds = [before?.dueAt ?? null, latest].map((at) => (at === null ? "…" : formatInstant(at)))
    throw refusedOperation(
      schedule,
      `The occurrence of "${schedule.id}" at ${formatInstant(occurrence.scheduledFor)} can't be moved to ${formatInstant(to)}: ` +
        `choose a time after now and between its neighbours (${bounds.join(" and ")}).`,
    )
  }
  return withOverride(schedule, { scheduledFor: occurrence.scheduledFor, dueAt: to, ...why }, now)
}

/** Undoes a skip or a move, or the reschedule to `scheduledFor`. Occurrences passed over until now stay so. */
export function restore(
  schedule: Schedule,
  scheduledFor: Instant,
  facts: FireFacts,
  now: Instant,
): Plan | null {
  const undone = schedule.overrides.find((override) => override.scheduledFor === scheduledFor)
  if (undone === undefined) return null
  const settled = undone.isNext === true ? settleSkipped(schedule, facts, now) : null
  return followedBy(schedule, settled ?? planOf(schedule, {}), (rest) =>
    withOverrides(
      rest,
      rest.overrides.filter((override) => override.scheduledFor !== scheduledFor),
      now,
    ),
  )
}

/**
 * Makes `to` the next occurrence. Occurrences of the timetable before `to` are passed over, those after it stay. Only if a
 * schedule has a single occurrence left is that one replaced, so that it still runs once. What is owed until now is fired
 * first. A new reschedule replaces the previous one.
 */
export function reschedule(schedule: Schedule, to: Instant, why: Why, facts: FireFacts, now: Instant): Plan {
  const settled = settledForReschedule(upToNow(schedule, now), facts, now)
  return followedBy(schedule, settled, (rest) => rescheduled(withoutNext(rest), to, why, now))
}

function settledForReschedule(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  const newest = schedule.paused === null && schedule.enabled ? newestDue(schedule, now) : null
  if (newest !== null) return planOwed(schedule, facts, owedUpTo(newest, schedule, now, facts.recorded), now)
  return settleSkipped(schedule, facts, now) ?? planOf(schedule, {})
}

function rescheduled(schedule: Schedule, to: Instant, why: Why, now: Instant): Plan {
  const coveredUntil = schedule.coveredUntil ?? now
  const problem = problemWith(schedule, to, coveredUntil, now)
  if (problem !== null) {
    throw refusedOperation(
      schedule,
      `"${schedule.id}" can't be rescheduled to ${formatInstant(to)}: ${problem}.`,
    )
  }
  const added: OccurrenceOverride = { scheduledFor: to, dueAt: to, ...why }
  const next = occurrenceAfter(schedule, coveredUntil)
  const message = whySkipped(added)
  if (next !== null && next.scheduledFor < to) {
    const kept = keptAfter(schedule, to, { ...why, reason: message })
    return withOverrides({ ...schedule, coveredUntil }, [...kept, { ...added, isNext: true }], now)
  }
  // `to` is before the next occurrence. If that one is the schedule's last, it is skipped, because `to` replaces it.
  const isLast = next !== null && occurrenceAfter(schedule, next.scheduledFor) === null
  const replaced =
    isLast && next.scheduledFor !== to
      ? [{ ...why, scheduledFor: next.scheduledFor, dueAt: null, reason: message }]
      : []
  const isReplaced = ({ scheduledFor }: OccurrenceOverride) => replaced[0]?.scheduledFor === scheduledFor
  const others = schedule.overrides.filter(
    (override) => override.scheduledFor !== to && !isReplaced(override),
  )
  return withOverrides({ ...schedule, coveredUntil }, [...others, added, ...replaced], now)
}

function problemWith(schedule: Schedule, to: Instant, coveredUntil: Instant, now: Instant): string | null {
  if (to < now) return "that is in the past"
  if (isSpent(schedule)) return `it has had its ${schedule.maxRuns} runs`
  // Settled beyond now by the spacing, or because the last occurrence was moved forward.
  return to <= coveredUntil ? `everything up to ${formatInstant(coveredUntil)} is settled` : null
}

/** Overrides after `to` stay. An occurrence that was moved forward to before `to` is passed over too. */
function keptAfter(schedule: Schedule, to: Instant, why: Why): readonly OccurrenceOverride[] {
  return schedule.overrides
    .filter(({ scheduledFor }) => scheduledFor > to)
    .map((override) =>
      override.dueAt !== null && override.dueAt <= to ? { ...override, ...why, dueAt: null } : override,
    )
}

/** The requested future occurrence, or the next one. Refused if there is none. */
export function occurrenceToCome(schedule: Schedule, scheduledFor: Instant | null, now: Instant): Occurrence {
  const settled = schedule.coveredUntil ?? now
  // Occurrences before now are late but still to come, unless a pause or disabling dropped them.
  const dropped = schedule.enabled && schedule.paused === null ? settled : Math.max(settled, now)
  const after = scheduledFor === null ? dropped : Math.max(dropped, scheduledFor - 1)
  const found = upcomingAfter(schedule, after)
  if (found !== null && (scheduledFor === null || found.scheduledFor === scheduledFor)) return found
  const asked =
    scheduledFor === null
      ? "no occurrence to come"
      : `no occurrence to come at ${formatInstant(scheduledFor)}`
  const hint = found === null ? "" : ` The next is at ${formatInstant(found.scheduledFor)}.`
  throw refusedOperation(schedule, `Schedule "${schedule.id}" has ${asked}.${hint}`)
}

function withOverride(schedule: Schedule, override: OccurrenceOverride, now: Instant): Plan {
  const isSame = (entry: OccurrenceOverride) => entry.scheduledFor === override.scheduledFor
  const others = schedule.overrides.filter((entry) => !isSame(entry))
  const isNext = schedule.overrides.find(isSame)?.isNext === true
  return withOverrides(schedule, [...others, isNext ? { ...override, isNext } : override], now)
}

function withOverrides(schedule: Schedule, overrides: readonly OccurrenceOverride[], now: Instant): Plan {
  if (overrides.length > OVERRIDES_MAX) {
    throw refusedOperation(
      schedule,
      `Schedule "${schedule.id}" has ${OVERRIDES_MAX} skipped or moved occurrences already; change its timetable instead.`,
    )
  }
  const changed = { ...schedule, overrides }
  const coveredUntil = schedule.coveredUntil ?? now
  checkOrder(changed, coveredUntil)
  const next = upcomingAfter(changed, coveredUntil)
  const isWaiting = schedule.paused === null && schedule.enabled
  return planOf(changed, {
    coveredUntil,
    nextRunAt: isWaiting ? (next?.dueAt ?? null) : schedule.nextRunAt,
    finishedAt: next === null ? (schedule.finishedAt ?? now) : null,
  })
}

/** Every plan relies on occurrences being due in their nominal order. Skipped ones count at their nominal time. */
function checkOrder(schedule: Schedule, coveredUntil: Instant): void {
  for (const { scheduledFor } of schedule.overrides) {
    if (scheduledFor <= coveredUntil || isInOrder(schedule, scheduledFor, coveredUntil)) continue
    throw refusedOperation(
      schedule,
      `The occurrence of "${schedule.id}" at ${formatInstant(scheduledFor)} would no longer be due between its neighbours: ` +
        "restore the ones that were moved first.",
    )
  }
}

function refusedOperation({ id }: Schedule, message: string): BelfryError {
  return new BelfryError("BELFRY_OCCURRENCE_INVALID", message, { details: { id } })
}

/**
 * Plans a schedule again after a change: from `now`, or from `coveredUntil` if that is later. A disabled schedule is then not
 * due, and a paused one is due when its pause ends.
 */
export function replan<Each extends NewSchedule>(schedule: Each, now: Instant): Each {
  const progress = planFrom(schedule, Math.max(now, schedule.coveredUntil ?? now))
  if (!schedule.enabled) return { ...schedule, ...progress, nextRunAt: null }
  return schedule.paused === null
    ? { ...schedule, ...progress }
    : { ...schedule, ...progress, nextRunAt: schedule.paused.until }
}
