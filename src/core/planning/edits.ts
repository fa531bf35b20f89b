import { BelfryError } from "../errors.ts"
import { changedFields, definitionOf } from "../schedule/reconcile.ts"
import { type Edit, type NewSchedule, progressOf, type Schedule } from "../schedule/schedule.ts"
import { formatInstant, type Instant } from "../time/instant.ts"
import { skipRecordOf } from "./new-run.ts"
import { type FireFacts, factsAfter, followedBy, type Plan, planOf } from "./plan.ts"
import { hasOtherTiming, redefine } from "./redefine.ts"
import { planOnHold, settle } from "./settling.ts"
import { beginPause, replan, reschedule, resume } from "./steer.ts"

/**
 * Changes to a schedule that were written by SQL directly, without our checks. Each has the effect of the same operation of
 * Belfry at the instant it was written. SQL can't plan a schedule, so the next plan carries the changes out.
 */

/** The definition and the pause of a schedule, before or after an edit. */
type State = Edit["was"]

interface Edited {
  readonly edits: readonly [Edit, ...Edit[]]
}

export function isEdited<Each extends NewSchedule>(schedule: Each): schedule is Each & Edited {
  return schedule.edits !== undefined && schedule.edits.length > 0
}

/** All edits in order, as one plan. Occurrences due after the last edit are left for the next plan. */
export function planEdits(schedule: Schedule & Edited, facts: FireFacts): Plan {
  const { edits, ...current } = schedule
  let plan = planOf(dueAsBefore({ ...current, ...edits[0].was }), {})
  edits.forEach((edit, index) => {
    const known = factsAfter(facts, plan)
    const next: State = edits[index + 1]?.was ?? current
    plan = followedBy({ ...current, ...edit.was }, plan, (before) => planEdit(before, edit, next, known))
  })
  return plan
}

/** The first edit set `nextRunAt` to its own instant. This restores the earlier value. */
function dueAsBefore(schedule: Schedule): Schedule {
  const { coveredUntil, lastError } = schedule
  if (coveredUntil === null || lastError !== null) return schedule
  try {
    const { nextRunAt } = replan(schedule, coveredUntil)
    return { ...schedule, nextRunAt }
  } catch {
    // The schedule couldn't be planned before the edits. The edits may repair it.
    return schedule
  }
}

function planEdit(before: Schedule, edit: Edit, next: State, facts: FireFacts): Plan {
  const definition = definitionOf(next)
  const after = (progress: Schedule) => ({ ...progress, ...definition })
  const defined = planDefinition(before, edit, next, facts)
  const isPauseEdited = JSON.stringify(edit.was.paused) !== JSON.stringify(next.paused)
  const paused = isPauseEdited
    ? followedBy(before, defined, (rest) => planPause(after(rest), edit.at, next, facts))
    : defined
  if (edit.nextRunAt === undefined) return paused
  return followedBy(before, paused, (rest) =>
    planRequestedTime(after(rest), edit, next, factsAfter(facts, paused)),
  )
}

/** Settles what the old definition owed, then applies the new one. */
function planDefinition(before: Schedule, { at }: Edit, next: State, facts: FireFacts): Plan {
  const [old, definition] = [definitionOf(before), definitionOf(next)]
  if (changedFields(old, definition).length === 0) return planOf(before, {})
  const canWait = !hasOtherTiming(old, definition)
  const settled = settle(before, facts, at, { canWait }) ?? planOf(before, {})
  return followedBy(before, settled, (rest) => {
    try {
      return planOf(rest, progressOf(redefine(rest, definition, at)))
    } catch (error) {
      // The new definition can't be planned. Planning continues from here when the definition is repaired.
      return planOnHold({ ...rest, coveredUntil: Math.max(at, rest.coveredUntil ?? at) }, error)
    }
  })
}

function planPause(schedule: Schedule, at: Instant, { paused }: State, facts: FireFacts): Plan {
  if (paused !== null) return beginPause(schedule, paused, facts, at)
  return resume(schedule, facts, at) ?? planOf(schedule, {})
}

function planRequestedTime(schedule: Schedule, edit: Edit, next: State, facts: FireFacts): Plan {
  if (schedule.lastError !== null) return planOf(schedule, {})
  const { at, by, was } = edit
  const requested = edit.nextRunAt!
  if (requested === null) {
    const settled = settle(schedule, facts, at, { canWait: false }) ?? planOf(schedule, {})
    return followedBy(schedule, settled, (rest) =>
      planOf(rest, progressOf(replan({ ...rest, overrides: [] }, at))),
    )
  }
  // Together with a new timetable, or with enabling, the requested time is the first occurrence.
  if (hasOtherTiming(definitionOf(was), definitionOf(next)))
    return beginAt(schedule, edit, Math.max(requested, at))
  // A time that has passed means at once. An occurrence of this same instant may already have been fired ahead of time.
  const to = requested > at ? requested : Math.max(at, (schedule.coveredUntil ?? at) + 1)
  try {
    return reschedule(schedule, to, { reason: null, by }, facts, at)
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    const why = { reason: "operator", message: error.message } as const
    return planOf(schedule, {}, { runs: [skipRecordOf(schedule, { from: at, until: at, count: 1 }, why)] })
  }
}

/**
 * The first occurrence is at `requested`, regardless of the timetable, or just after what is settled. The timetable continues
 * from there.
 */
function beginAt(schedule: Schedule, { at, by }: Edit, requested: Instant): Plan {
  const settled = schedule.coveredUntil ?? at
  // Settled time stays settled: each occurrence has one record.
  const first = requested >= settled ? requested : settled + 1
  const reason = `Begins at ${formatInstant(first)}`
  const added = { scheduledFor: first, dueAt: first, reason, by, isNext: true }
  const isWaiting = schedule.paused === null && schedule.enabled
  return planOf(schedule, {
    coveredUntil: Math.min(settled, first - 1),
    overrides: [...schedule.overrides.filter(({ scheduledFor }) => scheduledFor > first), added],
    nextRunAt: isWaiting ? first : schedule.nextRunAt,
    finishedAt: null,
  })
}
